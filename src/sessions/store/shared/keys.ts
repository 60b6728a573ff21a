import type { Client } from '../../../core/caller.ts';
import type { SessionRecord } from '../state.ts';

/** First part of all keys of sessions. Its hash tag lets one script change a session and its indexes in a cluster. */
export const keyBase = '{sessions}:';

/** Names of keys, without `keyBase`. A name that ends with a colon is followed by an id or the name of a client. */
export const keys = {
  /** Hash of a session: `record` as JSON, `version`, `operations`, `runner`, and the fields of its messages. */
  record: 'record:',
  /** Stream of a session's event lines. The entry of the event with index 0 has the id `1-0`. */
  events: 'events:',
  /** Receipt of a request with an idempotency key. */
  once: 'once:',
  /** Sorted sets of session ids: by start (all, live), by end, by deletion, and by the end of the lease. */
  all: 'all',
  live: 'live',
  ended: 'ended',
  purged: 'purged',
  running: 'running',
  /** Sorted set of the sessions with open streams, by the time at which an instance last confirmed it. */
  read: 'read',
  /** Hash of the amounts that a client, a network or all clients (`*`) use: `live`, `stored` and `pending`. */
  use: 'use:',
  /** Sorted sets of a client's, a network's or all waiting and ended sessions, by their last activity. */
  waiting: 'waiting:',
  over: 'over:',
  /** Sorted sets of the clients of a network, or of all networks (`*`), by live sessions and by stored bytes. */
  holdersByLive: 'holders:live:',
  holdersByStored: 'holders:stored:',
} as const;

/** Channel on which the changes of sessions are announced. */
export const changesChannel = 'sessions';

export const everyone = '*';
const unknownClient = '-';

/** Client under whose names a session is counted. `parent` is the network of an IPv6 address, otherwise `*`. */
export type Holder = Readonly<{ name: string; parent: string | null }>;

/** Returns the client, its network if it has one, and everyone. */
export function holdersOf(client: Client | null): readonly Holder[] {
  const address = client?.address ?? unknownClient;
  const network = client?.network ?? null;
  const all = { name: everyone, parent: null };
  if (network === null) return [{ name: address, parent: everyone }, all];
  return [{ name: address, parent: network }, { name: network, parent: everyone }, all];
}

/** Amounts that a session counts for. */
export type Amounts = Readonly<Record<'live' | 'stored' | 'pending', number>>;

const isLive = ({ state }: SessionRecord) => state === 'running' || state === 'waiting';

export function amountsOf(record: SessionRecord | null): Amounts {
  if (record === null) return { live: 0, stored: 0, pending: 0 };
  const { storedBytes, pending } = record;
  return { live: isLive(record) ? 1 : 0, stored: storedBytes, pending: pending.length };
}
