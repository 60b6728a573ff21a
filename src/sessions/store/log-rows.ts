import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import {
  type AnsweredTurn,
  chunkLength,
  type SessionMessage,
  type StoredEvent,
} from './session-store.ts';
import type { MessageChange } from './state.ts';

const maxChunkEvents = 256;

/** Prepares the statements for `events` and `messages`. */
export function createLogRows(database: SqliteDatabase) {
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
  // In bytes, because counting the characters of a long line is as slow as reading it.
  const part = database.prepare<[number, number, number], { bytes: number; part: Buffer }>(
    `SELECT octet_length(line) AS bytes, substr(CAST(line AS BLOB), ? + 1, ${chunkLength}) AS part
     FROM events WHERE session = ? AND position = ? AND bytes > ${chunkLength}`,
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
    part: (session: number, index: number, offset: number) => {
      const found = part.get(offset, session, index);
      if (found === undefined) return undefined;
      return { bytes: found.part, isLast: offset + found.part.length >= found.bytes };
    },
    text: database.prepare<[number, number], string>(textOf).pluck(),
    messages: database.prepare<[number], SessionMessage>(
      `SELECT sequence, delivery_id AS deliveryId, text, state FROM messages
       WHERE session = ? ORDER BY sequence`,
    ),
    answered: database.prepare<[number, number, number], AnsweredTurn>(
      `SELECT text AS question, line FROM messages
       JOIN events ON events.session = messages.session AND position = completed_event
       WHERE messages.session = ? AND sequence < ? AND state = 'completed'
       ORDER BY sequence DESC LIMIT ?`,
    ),
  };
}
