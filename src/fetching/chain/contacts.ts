import { problemKinds } from '../../lib/problem.ts';
import { type Platform, platformNames, type SearchPlatform } from '../../model/reference.ts';
import type { ProviderError } from '../../normalize/provider-error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { JudgedFailure } from '../../providers/provider-breaker.ts';

type Contact = JudgedFailure['contact'];

/** Milliseconds for which an answered request shows that a source and the network work. */
const validMs = 60_000;

export type Contacts = ReturnType<typeof createContacts>;

/** Remembers which sources could be reached, to tell an outage from a missing network. */
export function createContacts(providers: readonly Provider[], now: () => number) {
  const last = new Map<string, Readonly<{ contact: Contact; atMs: number }>>();
  const isRecent = ({ name }: Provider, contacts: readonly Contact[]): boolean => {
    const found = last.get(name);
    return found !== undefined && contacts.includes(found.contact) && now() - found.atMs < validMs;
  };
  const remote = providers.filter(({ isLocal }) => isLocal !== true);
  return {
    /** Remembers whether a source could be reached. `failure`: `null` if it answered. */
    note: (name: string, failure: Pick<JudgedFailure, 'contact'> | null): void => {
      last.set(name, { contact: failure?.contact ?? 'answered', atMs: now() });
    },
    /** Returns whether all `names` were unreachable and no source was reached for a minute. */
    isOffline: (names: readonly string[]): boolean =>
      names.length > 0 &&
      names.every((name) => last.get(name)?.contact === 'unreachable') &&
      !remote.some((provider) => isRecent(provider, ['answered', 'failed'])),
    /** Returns whether a source has been reached in the last minute, so that there is a network. */
    isOnline: () => remote.some((provider) => isRecent(provider, ['answered', 'failed'])),
    /** Returns the other platforms whose sources answered a request in the last minute. */
    listWorking: (platform: string): readonly Platform[] => {
      const working = remote.filter((provider) => isRecent(provider, ['answered']));
      const names = new Set(working.flatMap(({ platforms }) => platforms));
      return [...names].filter((name) => name !== platform);
    },
    /** Returns what can be read from this server itself, as nouns for an error message. */
    listStored: (): readonly string[] =>
      providers.flatMap(({ listStored }) => listStored?.() ?? []),
  };
}

interface Outage {
  readonly platform: Platform | SearchPlatform;
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
