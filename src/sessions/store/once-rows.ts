import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import type { Once, Receipt } from './store.ts';

/** How long a request is remembered under its key. */
export const onceMs = 24 * 60 * 60 * 1000;

/** The rows of requests that are carried out once. */
export type OnceRows = ReturnType<typeof createOnceRows>;

/** Prepares the statements about requests that are carried out once. */
export function createOnceRows(database: SqliteDatabase) {
  const find = database.prepare<[string, number], Receipt & { readonly fingerprint: string }>(
    `SELECT fingerprint, id AS sessionId, delivery_id AS deliveryId, queued
     FROM once JOIN sessions ON number = session WHERE key = ? AND at_ms > ?`,
  );
  const insert = database.prepare<[string, string, number, string, number, number]>(
    `INSERT OR REPLACE INTO once (key, fingerprint, session, delivery_id, queued, at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  return {
    /** @throws Problem `idempotency_conflict` where the key came with another request */
    recall: ({ key, fingerprint, nowMs }: Once): Receipt | undefined => {
      const row = find.get(key, nowMs - onceMs);
      if (row === undefined) return undefined;
      if (row.fingerprint !== fingerprint) throw usedBefore();
      const { sessionId, deliveryId, queued } = row;
      return { sessionId, deliveryId, queued };
    },
    insert: (once: Once, session: number, { deliveryId, queued }: Receipt): void => {
      insert.run(once.key, once.fingerprint, session, deliveryId, queued, once.nowMs);
    },
  };
}

function usedBefore(): Problem {
  return new Problem('idempotency_conflict', {
    detail: 'The header `Idempotency-Key` has a value that came with another request before.',
  });
}
