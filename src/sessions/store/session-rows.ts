import type { Client } from '../../core/caller.ts';
import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { PendingTurn, SessionRecord } from './state.ts';

/** A record with what the tables know it by. */
export interface SessionRow {
  readonly number: number;
  /** The sum of the lengths of its lines. */
  readonly bytes: number;
  readonly record: SessionRecord;
}

/** A row of the table `sessions`. */
export interface RawSession {
  readonly number: number;
  readonly id: string;
  readonly state: SessionRecord['state'];
  readonly owner: string | null;
  readonly client: string;
  readonly network: string;
  readonly created_ms: number;
  readonly active_ms: number;
  readonly ended_ms: number | null;
  readonly accepted: number;
  readonly events: number;
  readonly bytes: number;
  readonly stored: number;
}

interface RawTurn {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly state: string;
}

/** The most sessions of a list that are read at once. */
export const pageSize = 100;

/** The rows of sessions. Nothing here begins or ends a transaction. */
export type SessionRows = ReturnType<typeof createSessionRows>;

/** Prepares the statements about the rows of sessions. */
export function createSessionRows(database: SqliteDatabase) {
  const byId = database.prepare<[string], RawSession>('SELECT * FROM sessions WHERE id = ?');
  const pending = database.prepare<[number], RawTurn>(
    `SELECT sequence, delivery_id AS deliveryId, state FROM messages
     WHERE session = ? AND state IN ('queued', 'running') ORDER BY sequence`,
  );
  const insert = database.prepare<(string | number | null)[]>(
    `INSERT INTO sessions (id, state, owner, client, network, created_ms, active_ms, accepted, events, bytes)
     VALUES (?, 'waiting', ?, ?, ?, ?, 0, 0, 0, 0)`,
  );
  const update = database.prepare<(string | number | null)[]>(
    `UPDATE sessions SET state = ?, active_ms = ?, ended_ms = ?, accepted = ?, events = ?, bytes = ?,
       stored = ?, pending = ?
     WHERE number = ?`,
  );
  const pageOf = (where: string) =>
    database.prepare<[number], RawSession>(
      `SELECT * FROM sessions WHERE ${where} AND number > ? ORDER BY number LIMIT ${pageSize}`,
    );
  const pages = { all: pageOf('true'), running: pageOf(`state = 'running'`) };

  const toRow = (raw: RawSession): SessionRow => ({
    number: raw.number,
    bytes: raw.bytes,
    record: {
      id: raw.id,
      state: raw.state,
      owner: raw.owner,
      client: toClient(raw),
      createdMs: raw.created_ms,
      activeMs: raw.active_ms,
      endedMs: raw.ended_ms,
      accepted: raw.accepted,
      pending: raw.state === 'running' ? pending.all(raw.number).map(toPendingTurn) : [],
      events: raw.events,
      storedBytes: raw.stored,
    },
  });
  return {
    toRow,
    find: (id: string) => {
      const raw = byId.get(id);
      return raw && toRow(raw);
    },
    insert: ({ id, owner, client, createdMs }: SessionRecord): number => {
      const address = client?.address ?? unknownClient;
      const network = client?.network ?? address;
      return Number(insert.run(id, owner, address, network, createdMs).lastInsertRowid);
    },
    update: ({ number, bytes, record }: SessionRow): void => {
      const { state, activeMs, endedMs, accepted, events, storedBytes, pending } = record;
      const counts = [accepted, events, bytes, storedBytes, pending.length];
      update.run(state, activeMs, endedMs, ...counts, number);
    },
    page: (which: keyof typeof pages, after: number) => {
      const rows = pages[which].all(after);
      const next = rows.length < pageSize ? null : (rows.at(-1)?.number ?? null);
      return { records: rows.map((raw) => toRow(raw).record), next };
    },
  };
}

function toPendingTurn({ sequence, deliveryId, state }: RawTurn): PendingTurn {
  return { sequence, deliveryId, isBegun: state === 'running' };
}

/** The mark of sessions whose address is unknown. */
const unknownClient = '-';

function toClient({ client, network }: RawSession): Client | null {
  if (client === unknownClient) return null;
  return { address: client, network: network === client ? null : network };
}
