import type { Client } from '../../../core/caller.ts';
import type { SessionRecord } from '../state.ts';

/** Prefix of all session keys. Its hash tag makes a Redis cluster store them on one server, which scripts require. */
export const keyBase = '{sessions}:';

/** Names of keys after the prefix `keyBase`. A colon is followed by an id, an idempotency key or a client's name. */
export const keys = {
  /** Redis hash of a session: `record` (JSON), `version`, `runner`, its latest `operations`, and its messages. */
  record: 'record:',
  /** Redis stream of a session's event lines. The entry of the event with index 0 has the id `1-0`. */
  events: 'events:',
  /** Result of a request with an idempotency key, which is returned if the request is repeated. */
  once: 'once:',
  /** Sorted sets of session ids by start (`all`, `live`), end (`ended`), deletion (`purged`), lease end (`running`). */
  all: 'all',
  live: 'live',
  ended: 'ended',
  purged: 'purged',
  running: 'running',
  /** Sorted set of sessions with open event streams, by the time at which an instance last confirmed the stream. */
  read: 'read',
  /** Redis hash with the usage of a client, network or all clients (`*`): sessions, bytes, unanswered messages. */
  use: 'use:',
  /** Sorted sets of waiting and ended (`over`) sessions of a client, network or all clients (`*`), by last activity. */
  waiting: 'waiting:',
  over: 'over:',
  /** Sorted sets of a network's clients, or of networks and IPv4 clients (`*`), by live sessions or stored bytes. */
  holdersByLive: 'holders:live:',
  holdersByStored: 'holders:stored:',
} as const;

/** Milliseconds for which a stream counts as open after an instance has confirmed it. */
export const readMs = 30_000;

/** Pub/sub channel on which instances publish changes of sessions. */
export const changesChannel = 'sessions';

export const everyone = '*';
const unknownClient = '-';

/** Client or network whose usage is counted, or all clients (`*`). `parent`: the network or `*` that includes it. */
export type Holder = Readonly<{ name: string; parent: string | null }>;

/** Returns the client, its network if it has one, and all clients (`*`). */
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
