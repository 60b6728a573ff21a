import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Quantity } from './quotas.ts';
import {
  type AnsweredTurn,
  chunkLength,
  idempotencyMs,
  type KeyedRequest,
  type Receipt,
  refuseOtherRequest,
  type StoredEvent,
} from './session-store.ts';
import type { MessageChange, PendingTurn, SessionRecord } from './state.ts';

/** Session with its row number. */
export type SessionRow = Readonly<{ number: number; record: SessionRecord }>;

interface RawSession extends Omit<SessionRecord, 'client' | 'pending'> {
  readonly number: number;
  readonly address: string;
  readonly network: string;
}

export type Rows = ReturnType<typeof prepareRows>;

/** Prepares the statements, which neither begin nor end transactions. */
export function prepareRows(database: SqliteDatabase) {
  const used = database.prepare<[string], Readonly<Record<Quantity, number>>>(
    `SELECT live AS sessions, stored AS sessionBytes, pending AS queuedTurns
     FROM holders WHERE name = ?`,
  );
  return {
    sessions: createSessionRows(database),
    idempotency: createIdempotencyRows(database),
    life: createLifetimeRows(database),
    log: createLogRows(database),
    usedBy: (quantity: Quantity, name: string) => used.get(name)?.[quantity] ?? 0,
  };
}

const pageSize = 100;
const unknownClient = '-';

function createSessionRows(database: SqliteDatabase) {
  const select = (rest: string) => `SELECT number, id, state, owner, client AS address, network,
      created_ms AS createdMs, active_ms AS activeMs, ended_ms AS endedMs, accepted, events,
      stored AS storedBytes
    FROM sessions WHERE ${rest}`;
  const byId = database.prepare<[string], RawSession>(select('id = ?'));
  const oldest = database.prepare<[string, string, number], RawSession>(
    select('client = ? AND state = ? AND number != ? ORDER BY active_ms LIMIT 1'),
  );
  const pageOf = (where: string) =>
    database.prepare<[number], RawSession>(
      select(`${where} AND number > ? ORDER BY number LIMIT ${pageSize}`),
    );
  const pages = { all: pageOf('true'), running: pageOf(`state = 'running'`) };
  const pending = database.prepare<[number], Omit<PendingTurn, 'isBegun'> & { isBegun: 0 | 1 }>(
    `SELECT sequence, delivery_id AS deliveryId, state = 'running' AS isBegun FROM messages
     WHERE session = ? AND state IN ('queued', 'running') ORDER BY sequence`,
  );
  const insert = database.prepare<(string | number | null)[]>(
    `INSERT INTO sessions (id, state, owner, client, network, created_ms, active_ms, accepted, events, bytes)
     VALUES (?, 'waiting', ?, ?, ?, ?, 0, 0, 0, 0)`,
  );
  const update = database.prepare<(string | number | null)[]>(
    `UPDATE sessions SET state = ?, active_ms = ?, ended_ms = ?, accepted = ?, events = ?,
       stored = ?, pending = ?
     WHERE number = ?`,
  );
  const toRow = (raw: RawSession | undefined): SessionRow | undefined => {
    if (raw === undefined) return undefined;
    const { number, address, network: own, ...record } = raw;
    const network = own === address ? null : own;
    const client = address === unknownClient ? null : { address, network };
    const turns = record.state === 'running' ? pending.all(number) : [];
    const begun = turns.map((turn) => ({ ...turn, isBegun: turn.isBegun === 1 }));
    return { number, record: { ...record, client, pending: begun } };
  };
  return {
    find: (id: string) => toRow(byId.get(id)),
    numberOf: database
      .prepare<[string], number>('SELECT number FROM sessions WHERE id = ?')
      .pluck(),
    /** Returns the least recently used session of a client address, except one row number. */
    findOldest: (address: string, state: SessionRecord['state'], except: number) =>
      toRow(oldest.get(address, state, except)),
    insert: ({ id, owner, client, createdMs }: SessionRecord): number => {
      const address = client?.address ?? unknownClient;
      const network = client?.network ?? address;
      return Number(insert.run(id, owner, address, network, createdMs).lastInsertRowid);
    },
    update: ({ number, record }: SessionRow): void => {
      const { state, activeMs, endedMs, accepted, events, storedBytes } = record;
      const counts = [accepted, events, storedBytes, record.pending.length];
      update.run(state, activeMs, endedMs, ...counts, number);
    },
    page: (which: keyof typeof pages, after: number) =>
      pages[which].all(after).flatMap((raw) => toRow(raw) ?? []),
  };
}

/** Maximum number of stored ids of deleted sessions; the oldest are removed. */
const maxPurged = 100_000;

function createLifetimeRows(database: SqliteDatabase) {
  const idsOf = <Args extends number[]>(where: string) =>
    database
      .prepare<Args, string>(`SELECT id FROM sessions WHERE ${where} LIMIT ${pageSize}`)
      .pluck();
  const deletions = [
    'events WHERE session',
    'messages WHERE session',
    'once WHERE session',
    'sessions WHERE number',
  ].map((which) => database.prepare<[number]>(`DELETE FROM ${which} = ?`));
  const insertPurged = database.prepare<[string, number]>(
    'INSERT OR REPLACE INTO purged (id, purged_ms) VALUES (?, ?)',
  );
  const forgetPurged = database.prepare<[number, number]>(
    `DELETE FROM purged WHERE purged_ms <= ? OR id IN (
       SELECT id FROM purged ORDER BY purged_ms DESC LIMIT -1 OFFSET ?
     )`,
  );
  const forgetOnce = database.prepare<[number]>('DELETE FROM once WHERE at_ms <= ?');
  return {
    expired: idsOf<[number, number]>(`state = 'waiting' AND (active_ms <= ? OR created_ms <= ?)`),
    stale: idsOf<[number]>('ended_ms <= ?'),
    isPurged: database.prepare<[string], number>('SELECT 1 FROM purged WHERE id = ?').pluck(),
    purge: ({ number, record }: SessionRow, nowMs: number): void => {
      for (const deletion of deletions) deletion.run(number);
      insertPurged.run(record.id, nowMs);
    },
    forget: ({ purgedMs, idempotencyMs }: Record<'purgedMs' | 'idempotencyMs', number>): void => {
      forgetPurged.run(purgedMs, maxPurged);
      forgetOnce.run(idempotencyMs);
    },
  };
}

function createIdempotencyRows(database: SqliteDatabase) {
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
    insert: (request: KeyedRequest | null, session: number, receipt: Receipt): void => {
      if (request === null) return;
      const { key, fingerprint, nowMs } = request;
      insert.run(key, fingerprint, session, receipt.deliveryId, receipt.queued, nowMs);
    },
  };
}

const maxChunkEvents = 256;

function createLogRows(database: SqliteDatabase) {
  // Earlier versions stored the length of all events so far in the column `ends`.
  const append = database.prepare<[number, number, string]>(
    'INSERT INTO events (session, position, line, ends) VALUES (?, ?, ?, 0)',
  );
  const insertMessage = database.prepare<[number, number, string, string]>(
    `INSERT INTO messages (session, sequence, delivery_id, text, state)
     VALUES (?, ?, ?, ?, 'queued')`,
  );
  const markMessage = database.prepare<[string, number | null, number, number]>(
    'UPDATE messages SET state = ?, completed_event = ? WHERE session = ? AND sequence = ?',
  );
  const nextEvent = database.prepare<[number, number], StoredEvent>(
    `SELECT position AS "index", line FROM events WHERE session = ? AND position >= ?
     ORDER BY position LIMIT 1`,
  );
  const textOf = 'SELECT text FROM messages WHERE session = ? AND sequence = ?';
  return {
    append,
    changeMessage: (session: number, change: MessageChange, completed: number | null): void => {
      const { sequence } = change;
      if (change.kind === 'mark') markMessage.run(change.state, completed, session, sequence);
      else insertMessage.run(session, sequence, change.deliveryId, change.text);
    },
    events: (session: number, from: number): readonly StoredEvent[] => {
      const found: StoredEvent[] = [];
      let length = 0;
      let event = nextEvent.get(session, from);
      while (event !== undefined && found.length < maxChunkEvents) {
        length += event.line.length;
        if (found.length > 0 && length > chunkLength) break;
        found.push(event);
        event = nextEvent.get(session, event.index + 1);
      }
      return found;
    },
    text: database.prepare<[number, number], string>(textOf).pluck(),
    answered: database.prepare<[number, number, number], AnsweredTurn>(
      `SELECT text AS question, line FROM messages
       JOIN events ON events.session = messages.session AND position = completed_event
       WHERE messages.session = ? AND sequence < ? AND state = 'completed'
       ORDER BY sequence DESC LIMIT ?`,
    ),
  };
}
