import { problemKinds } from '../../core/problem.ts';
import { platformNames, type SearchPlatform } from '../../model/reference.ts';
import type { ProviderError } from '../../platforms/provider-error.ts';
import type { Contacts } from './contacts.ts';

interface Outage {
  readonly platform: SearchPlatform;
  /** Names of the providers that were asked, without those that read stored data. */
  readonly sources: readonly string[];
  readonly error: ProviderError;
  /** Description of `error` as a sentence. */
  readonly fault: string;
}

/** Returns the error texts for a platform outage: its cause, and what can be read instead. */
export function describeOutage(outage: Outage, contacts: Contacts) {
  const name = platformNames[outage.platform];
  const others = contacts.listWorking(outage.platform).map((one) => platformNames[one]);
  const usable = [...others, ...contacts.listStored()];
  const advice = usable.length === 0 ? '' : ` You can still read ${joinWords(usable, 'and')}.`;
  return {
    detail: `${name.slice(0, 1).toUpperCase()}${name.slice(1)} cannot be read at the moment. ${explain(outage, contacts)}`,
    resolution: `${problemKinds.upstream_unavailable.resolution}${advice}`,
  };
}

function explain({ sources, error, fault }: Outage, contacts: Contacts): string {
  if (sources.length === 0) return fault; // stored data, which needs no network
  if (contacts.isOffline(sources)) {
    const names = sources.map((source) => `\`${source}\``);
    return `No connection to ${joinWords(names, 'or')} is possible, so there is probably no network.`;
  }
  // The host is one that the request names. Whether such a host exists is not disclosed.
  const isUnclear = !error.isProviderWide && error.kind === 'unavailable' && !contacts.isOnline();
  return isUnclear
    ? `${fault} Check the name of the server, and whether there is a network.`
    : fault;
}

function joinWords(words: readonly string[], conjunction: string): string {
  const [last = '', ...others] = words.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} ${conjunction} ${last}`;
}
