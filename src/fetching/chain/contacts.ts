import { HttpFailure } from '../../core/http/http-client.ts';
import { Problem } from '../../core/problem.ts';
import type { Platform } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Provider } from '../../providers/provider.ts';

type Contact = 'answered' | 'failed' | 'unreachable' | 'unknown';

/** Time in milliseconds for which an answered request shows that a source works, and that there is a network. */
const validMs = 60_000;

export type Contacts = ReturnType<typeof createContacts>;

/** Remembers which sources could be reached, to tell an outage of a source from a missing network. */
export function createContacts(providers: readonly Provider[], now: () => number) {
  const last = new Map<string, Readonly<{ contact: Contact; atMs: number }>>();
  const isRecent = ({ name }: Provider, contacts: readonly Contact[]): boolean => {
    const found = last.get(name);
    return found !== undefined && contacts.includes(found.contact) && now() - found.atMs < validMs;
  };
  const remote = providers.filter(({ isLocal }) => isLocal !== true);
  return {
    /** Runs a request to the source of a provider, and remembers whether the source could be reached. */
    watch: async <Found>(name: string, signal: AbortSignal, ask: () => Promise<Found>) => {
      const note = (contact: Contact) => last.set(name, { contact, atMs: now() });
      try {
        const found = await ask();
        note('answered');
        return found;
      } catch (error) {
        if (!(error instanceof Problem) && !signal.aborted) note(contactOf(error));
        throw error;
      }
    },
    /**
     * Returns whether there is probably no network: the last requests to all sources in `names` could not be sent, and
     * no other source has been reached in the last minute.
     */
    isOffline: (names: readonly string[]): boolean =>
      names.length > 0 &&
      names.every((name) => last.get(name)?.contact === 'unreachable') &&
      !remote.some((provider) => isRecent(provider, ['answered', 'failed'])),
    /** Returns whether a source has been reached in the last minute, so that there is a network. */
    isOnline: () => remote.some((provider) => isRecent(provider, ['answered', 'failed'])),
    /** Returns the platforms other than `platform` whose sources have answered a request in the last minute. */
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

function contactOf(error: unknown): Contact {
  if (!(error instanceof ProviderError)) return 'failed';
  if (error.isUnreachable) return 'unreachable';
  if (error.kind === 'missing' || error.kind === 'rejected') return 'answered';
  // A host that a request names may not exist.
  return error.cause instanceof HttpFailure || !error.isProviderWide ? 'unknown' : 'failed';
}
