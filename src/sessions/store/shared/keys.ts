import type { Client } from '../../../core/caller.ts';
import type { SessionRecord } from '../state.ts';

/**
 * Prefix of all session keys. The hash tag in braces makes a Redis cluster store all keys on one
 * server, which scripts require.
 */
export const keyBase = '{sessions}:';

/**
 * Redis keys of the sessions, without the common prefix `keyBase`. If a name ends with a colon, the
 * key continues with a session id, an idempotency key, or the name of a client or network.
 */
export const keys = {
  /**
   * Redis hash of a session. Fields: `record` (JSON), `version`, `runner` (server instance),
   * `operations` (ids of the latest changes), and the messages.
   */
  record: 'record:',
  /** Redis stream of a session's event lines. The entry of the event with index 0 has the id `1-0`. */
  events: 'events:',
  /** Stored result of a request with an idempotency key. If the request is repeated, the server returns this result. */
  once: 'once:',
  /** Sorted set of the ids of all stored sessions. The score is the start time. */
  all: 'all',
  /** Sorted set of the ids of active sessions. The score is the start time. */
  live: 'live',
  /** Sorted set of the ids of ended sessions. The score is the time of the end. */
  ended: 'ended',
  /** Sorted set of the ids of deleted sessions. The score is the time of the deletion. */
  purged: 'purged',
  /**
   * Sorted set of the ids of sessions with a lease (a server instance's right to answer the
   * session's messages). The score is the end time of the lease.
   */
  running: 'running',
  /**
   * Sorted set of sessions with open event streams. The score is the time at which a server
   * instance last confirmed that a stream of the session is open.
   */
  read: 'read',
  /**
   * Redis hashes with the used amounts (sessions, stored bytes, unanswered messages): one hash for each client, for
   * each network and for all clients (`*`).
   */
  use: 'use:',
  /**
   * Sorted sets of the sessions in the state `waiting`: one set for each client, for each network and for all
   * clients (`*`). The score is the time of the session's last activity.
   */
  waiting: 'waiting:',
  /**
   * Sorted sets of the ended sessions: one set for each client, for each network and for all clients (`*`). The
   * score is the time of the session's last activity.
   */
  over: 'over:',
  /**
   * Sorted sets that rank clients and networks by their number of active sessions (the score). The set of a network
   * contains the clients of this network. The set `*` contains all networks, and the clients without a network.
   */
  holdersByLive: 'holders:live:',
  /**
   * Sorted sets that rank clients and networks by their number of stored bytes (the score). The set of a network
   * contains the clients of this network. The set `*` contains all networks, and the clients without a network.
   */
  holdersByStored: 'holders:stored:',
} as const;

/** Milliseconds for which an event stream counts as open after a server instance has confirmed it. */
export const readMs = 30_000;

/** Pub/sub channel on which server instances publish changes of sessions. */
export const changesChannel = 'sessions';

export const everyone = '*';
const unknownClient = '-';

/** Client or network whose usage is counted. The name `*` stands for all clients together. */
export interface Holder {
  readonly name: string;
  /**
   * Name of the larger group that includes the holder: for a client, its network, or `*` if it has no network; for a
   * network, `*`; for `*`, `null`.
   */
  readonly parent: string | null;
}

/**
 * Returns the names under which the usage of a client is counted: the client, its network (if any),
 * and `*` for all clients.
 */
export function holdersOf(client: Client | null): readonly Holder[] {
  const address = client?.address ?? unknownClient;
  const network = client?.network ?? null;
  const all = { name: everyone, parent: null };
  if (network === null) return [{ name: address, parent: everyone }, all];
  return [{ name: address, parent: network }, { name: network, parent: everyone }, all];
}

/** Amounts of a session that count towards limits: live sessions (0 or 1), stored bytes and unanswered messages. */
export type Amounts = Readonly<Record<'live' | 'stored' | 'pending', number>>;

const isLive = ({ state }: SessionRecord) => state === 'running' || state === 'waiting';

export function amountsOf(record: SessionRecord | null): Amounts {
  if (record === null) return { live: 0, stored: 0, pending: 0 };
  const { storedBytes, pending } = record;
  return { live: isLive(record) ? 1 : 0, stored: storedBytes, pending: pending.length };
}
