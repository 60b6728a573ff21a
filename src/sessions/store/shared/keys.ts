import type { Client } from '../../../core/caller.ts';
import type { SessionRecord } from '../state.ts';

/** Key prefix. Its hash tag keeps all keys on one server of a cluster, as scripts require. */
export const keyBase = '{sessions}:';

/** Keys without `keyBase`. After a colon follows a session id, idempotency key or holder. */
export const keys = {
  /** Hash of a session: `record`, `version`, `runner`, latest `operations`, and the messages. */
  record: 'record:',
  /** Stream of a session's event lines. The event with index 0 has the entry id `1-0`. */
  events: 'events:',
  /** Result of a request with an idempotency key, returned if it is repeated. */
  once: 'once:',
  /** Sorted set of the ids of all stored sessions. The score is the start time. */
  all: 'all',
  /** Sorted set of the ids of active sessions. The score is the start time. */
  live: 'live',
  /** Sorted set of the ids of ended sessions. The score is the time of the end. */
  ended: 'ended',
  /** Sorted set of the ids of deleted sessions. The score is the time of the deletion. */
  purged: 'purged',
  /** Ids of sessions with a lease, sorted by its end. */
  running: 'running',
  /** Sessions with open streams, sorted by the last confirmation of an instance. */
  read: 'read',
  /** Hashes with used amounts of each client, each network and all clients (`*`). */
  use: 'use:',
  /** `waiting` sessions of each client, network and all (`*`), sorted by last activity. */
  waiting: 'waiting:',
  /** Ended sessions of each client, network and all (`*`), sorted by last activity. */
  over: 'over:',
  /** Clients of each network, and networks and clients without one (`*`), by active sessions. */
  holdersByLive: 'holders:live:',
  /** Clients of each network, and networks and clients without one (`*`), by stored bytes. */
  holdersByStored: 'holders:stored:',
} as const;

/** Milliseconds for which a stream counts as open after an instance has confirmed it. */
export const readMs = 30_000;

/** Pub/sub channel on which server instances publish changes of sessions. */
export const changesChannel = 'sessions';

export const everyone = '*';
const unknownClient = '-';

/** Client or network whose usage is counted. The name `*` stands for all clients together. */
export interface Holder {
  readonly name: string;
  /** Name of the enclosing group: network or `*`; `null` for `*`. */
  readonly parent: string | null;
}

/** Returns the client, its network (if any), and `*` for all clients. */
export function holdersOf(client: Client | null): readonly Holder[] {
  const address = client?.address ?? unknownClient;
  const network = client?.network ?? null;
  const all = { name: everyone, parent: null };
  if (network === null) return [{ name: address, parent: everyone }, all];
  return [{ name: address, parent: network }, { name: network, parent: everyone }, all];
}

/** Amounts that count towards limits: live sessions (0 or 1), bytes, unanswered messages. */
export type Amounts = Readonly<Record<'live' | 'stored' | 'pending', number>>;

const isLive = ({ state }: SessionRecord) => state === 'running' || state === 'waiting';

export function amountsOf(record: SessionRecord | null): Amounts {
  if (record === null) return { live: 0, stored: 0, pending: 0 };
  const { storedBytes, pending } = record;
  return { live: isLive(record) ? 1 : 0, stored: storedBytes, pending: pending.length };
}
