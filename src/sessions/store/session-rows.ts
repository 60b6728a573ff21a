import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import type { PendingTurn, SessionRecord } from './state.ts';

/** Session with its row number. `bytes` counts characters of the events, despite its name. */
export type SessionRow = Readonly<{ number: number; bytes: number; record: SessionRecord }>;

/** Columns of the SQL table `sessions`, with aliases that match the fields of `RawSession`. */
export const sessionColumns = `number, bytes, id, state, owner, client AS address, network,
  created_ms AS createdMs, active_ms AS activeMs, ended_ms AS endedMs,
  accepted, events, stored AS storedBytes`;

export interface RawSession extends Omit<SessionRecord, 'client' | 'pending'> {
  readonly number: number;
  readonly bytes: number;
  readonly address: string;
  readonly network: string;
}

const pageSize = 100;
const unknownClient = '-';

/** Prepares the statements for `sessions`, which neither begin nor end transactions. */
export function createSessionRows(database: SqliteDatabase) {
  const byId = database.prepare<[string], RawSession>(
    `SELECT ${sessionColumns} FROM sessions WHERE id = ?`,
  );
  const pending = database.prepare<[number], Omit<PendingTurn, 'isBegun'> & { isBegun: 0 | 1 }>(
    `SELECT sequence, delivery_id AS deliveryId, state = 'running' AS isBegun FROM messages
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
      `SELECT ${sessionColumns} FROM sessions
       WHERE ${where} AND number > ? ORDER BY number LIMIT ${pageSize}`,
    );
  const pages = { all: pageOf('true'), running: pageOf(`state = 'running'`) };
  const findPending = (number: number): readonly PendingTurn[] =>
    pending.all(number).map((turn) => ({ ...turn, isBegun: turn.isBegun === 1 }));
  const toRow = ({ number, bytes, address, network: own, ...raw }: RawSession): SessionRow => {
    const network = own === address ? null : own;
    const client = address === unknownClient ? null : { address, network };
    const turns = raw.state === 'running' ? findPending(number) : [];
    return { number, bytes, record: { ...raw, client, pending: turns } };
  };
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
      const { state, activeMs, endedMs, accepted, events, storedBytes } = record;
      const counts = [accepted, events, bytes, storedBytes, record.pending.length];
      update.run(state, activeMs, endedMs, ...counts, number);
    },
    page: (which: keyof typeof pages, after: number) => pages[which].all(after).map(toRow),
  };
}

const mostPurged = 100_000; // maximum number of stored ids of deleted sessions; the oldest are removed

export function createLifetimeRows(database: SqliteDatabase) {
  const expired = database
    .prepare<[number, number], string>(
      `SELECT id FROM sessions
       WHERE state = 'waiting' AND (active_ms <= ? OR created_ms <= ?) LIMIT ${pageSize}`,
    )
    .pluck();
  const stale = database
    .prepare<[number], string>(`SELECT id FROM sessions WHERE ended_ms <= ? LIMIT ${pageSize}`)
    .pluck();
  const deletions = ['events', 'messages', 'once'].map((table) =>
    database.prepare<[number]>(`DELETE FROM ${table} WHERE session = ?`),
  );
  const deleteSession = database.prepare<[number]>('DELETE FROM sessions WHERE number = ?');
  const insertPurged = database.prepare<[string, number]>(
    'INSERT OR REPLACE INTO purged (id, purged_ms) VALUES (?, ?)',
  );
  const isPurged = database.prepare<[string], number>('SELECT 1 FROM purged WHERE id = ?').pluck();
  const forgetPurged = database.prepare<[number]>('DELETE FROM purged WHERE purged_ms <= ?');
  const forgetMorePurged = database.prepare(
    `DELETE FROM purged WHERE id IN (
       SELECT id FROM purged ORDER BY purged_ms DESC LIMIT -1 OFFSET ${mostPurged}
     )`,
  );
  const forgetOnce = database.prepare<[number]>('DELETE FROM once WHERE at_ms <= ?');
  const live = database.prepare<[], number>(`SELECT live FROM holders WHERE name = '*'`).pluck();
  const stored = database
    .prepare<[], number>(`SELECT stored FROM holders WHERE name = '*'`)
    .pluck();
  return {
    expired,
    stale,
    isPurged,
    live,
    stored,
    purge: ({ number, record }: SessionRow, nowMs: number): void => {
      for (const deletion of [...deletions, deleteSession]) deletion.run(number);
      insertPurged.run(record.id, nowMs);
    },
    forget: (purgedMs: number, idempotencyMs: number): void => {
      forgetPurged.run(purgedMs);
      forgetMorePurged.run();
      forgetOnce.run(idempotencyMs);
    },
  };
}

/** Result of sending a message. `queued`: unanswered messages before it. */
export type Receipt = Readonly<{ sessionId: string; deliveryId: string; queued: number }>;

export interface KeyedRequest {
  /** Keyed hash of the `Idempotency-Key` header and the caller. */
  readonly key: string;
  /** Keyed hash of path and body, to reject a different request with the same key. */
  readonly fingerprint: string;
  readonly nowMs: number;
}

export const idempotencyMs = 24 * 60 * 60 * 1000;

/** Checks a repeated request. @throws Problem `idempotency_conflict` for another fingerprint */
export function refuseOtherRequest(request: KeyedRequest, fingerprint: string): void {
  if (fingerprint === request.fingerprint) return;
  throw new Problem('idempotency_conflict', {
    detail: 'The value of the header `Idempotency-Key` was already used for another request.',
  });
}

export function createIdempotencyRows(database: SqliteDatabase) {
  const find = database.prepare<[string, number], Receipt & { readonly fingerprint: string }>(
    `SELECT fingerprint, id AS sessionId, delivery_id AS deliveryId, queued
     FROM once JOIN sessions ON number = session WHERE key = ? AND at_ms > ?`,
  );
  const insert = database.prepare<[string, string, number, string, number, number]>(
    `INSERT OR REPLACE INTO once (key, fingerprint, session, delivery_id, queued, at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  return {
    /** Returns the earlier result, if any. @throws Problem `idempotency_conflict` */
    recall: (request: KeyedRequest | null): Receipt | undefined => {
      const row = request && find.get(request.key, request.nowMs - idempotencyMs);
      if (!row) return undefined;
      const { fingerprint, ...receipt } = row;
      refuseOtherRequest(request, fingerprint);
      return receipt;
    },
    insert: (request: KeyedRequest | null, session: number, receipt: Receipt): Receipt => {
      const { deliveryId, queued } = receipt;
      if (request)
        insert.run(request.key, request.fingerprint, session, deliveryId, queued, request.nowMs);
      return receipt;
    },
  };
}
