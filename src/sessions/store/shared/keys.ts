import type { Client } from '../../../core/caller.ts';
import type { SessionRecord } from '../state.ts';

/** Prefix of all keys of sessions. Its hash tag keeps them on one server of a cluster, as scripts require. */
export const keyBase = '{sessions}:';

/** Names of keys after `keyBase`. A colon is followed by an id, an idempotency key or the name of a client. */
export const keys = {
  /** Hash of a session: `record` (JSON), `version`, `runner`, its latest `operations`, and fields of its messages. */
  record: 'record:',
  /** Stream of a session's event lines. The entry of the event with index 0 has the id `1-0`. */
  events: 'events:',
  /** Receipt of a request with an idempotency key. */
  once: 'once:',
  /** Sorted sets of ids: `all` and `live` by start, `ended` by end, `purged` by deletion, `running` by lease end. */
  all: 'all',
  live: 'live',
  ended: 'ended',
  purged: 'purged',
  running: 'running',
  /** Sorted set of the sessions with open streams, by the time at which an instance last confirmed the stream. */
  read: 'read',
  /** Hash of sums for a client, a network or all clients (`*`): live sessions, stored bytes and pending turns. */
  use: 'use:',
  /** Sorted sets of waiting and of ended sessions of a client, a network or all clients (`*`), by last activity. */
  waiting: 'waiting:',
  over: 'over:',
  /** Sorted sets of a network's clients, or of networks and IPv4 clients (`*`), by live sessions or stored bytes. */
  holdersByLive: 'holders:live:',
  holdersByStored: 'holders:stored:',
} as const;

/** Channel on which the changes of sessions are announced. */
export const changesChannel = 'sessions';

export const everyone = '*';
const unknownClient = '-';

/** Client, network or all clients (`*`), whose sessions are counted. `parent` includes the client or the network. */
export type Holder = Readonly<{ name: string; parent: string | null }>;

/** Returns the client, its network if it has one, and all clients (`*`). */
export function holdersOf(client: Client | null): readonly Holder[] {
  const address = client?.address ?? unknownClient;
  const network = client?.network ?? null;
  const all = { name: everyone, parent: null };
  if (network === null) return [{ name: address, parent: everyone }, all];
  return [{ name: address, parent: network }, { name: network, parent: everyone }, all];
}

/** Amounts of a session that count towards limits: live sessions (0 or 1), stored bytes and pending turns. */
export type Amounts = Readonly<Record<'live' | 'stored' | 'pending', number>>;

const isLive = ({ state }: SessionRecord) => state === 'running' || state === 'waiting';

export function amountsOf(record: SessionRecord | null): Amounts {
  if (record === null) return { live: 0, stored: 0, pending: 0 };
  const { storedBytes, pending } = record;
  return { live: isLive(record) ? 1 : 0, stored: storedBytes, pending: pending.length };
}
