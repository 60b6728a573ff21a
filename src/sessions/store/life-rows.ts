import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { pageSize, type SessionRow } from './session-rows.ts';

/** Maximum number of deleted sessions whose ids are known; the oldest are forgotten. */
const mostPurged = 100_000;

/** The rows of what a session's life ends with. */
export type LifeRows = ReturnType<typeof createLifeRows>;

/** Prepares the statements about the end of a session's life. */
export function createLifeRows(database: SqliteDatabase) {
  const ids = (where: string) => `SELECT id FROM sessions WHERE ${where} LIMIT ${pageSize}`;
  const idle = database
    .prepare<[number], string>(ids(`state = 'waiting' AND active_ms <= ?`))
    .pluck();
  const old = database
    .prepare<[number], string>(ids(`state = 'waiting' AND created_ms <= ?`))
    .pluck();
  const stale = database.prepare<[number], string>(ids('ended_ms <= ?')).pluck();
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
  return {
    expired: (idleMs: number, createdMs: number) => [
      ...new Set([...idle.all(idleMs), ...old.all(createdMs)]),
    ],
    stale: (endedMs: number) => stale.all(endedMs),
    purge: ({ number, record }: SessionRow, nowMs: number): void => {
      for (const deletion of deletions) deletion.run(number);
      deleteSession.run(number);
      insertPurged.run(record.id, nowMs);
    },
    isPurged: (id: string) => isPurged.get(id) !== undefined,
    forget: (purgedMs: number, onceMs: number): void => {
      forgetPurged.run(purgedMs);
      forgetMorePurged.run();
      forgetOnce.run(onceMs);
    },
    countLive: () => live.get() ?? 0,
  };
}
