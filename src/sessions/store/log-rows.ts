import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { MessageChange } from './state.ts';

/** Maximum characters of a batch of events. A batch with a single event may be longer. */
export const chunkLength = 65_536;

/** Stored event. `line` is JSON without a line feed or the continuation token. */
export type StoredEvent = Readonly<{ index: number; line: string }>;

/** Answered question. `line` is the stored `message.completed` event with the answer. */
export type AnsweredTurn = Readonly<{ question: string; line: string }>;

export interface SessionMessage {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly text: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
}

const maxChunkEvents = 256;
const eventsPerQuery = 16; // small, to avoid reading long events that do not fit into the chunk

export function createLogWrites(database: SqliteDatabase) {
  const insertEvent = database.prepare<[number, number, string, number]>(
    'INSERT INTO events (session, position, line, ends) VALUES (?, ?, ?, ?)',
  );
  const insertMessage = database.prepare<[number, number, string, string]>(
    `INSERT INTO messages (session, sequence, delivery_id, text, state)
     VALUES (?, ?, ?, ?, 'queued')`,
  );
  const markMessage = database.prepare<[string, number | null, number, number]>(
    'UPDATE messages SET state = ?, completed_event = ? WHERE session = ? AND sequence = ?',
  );
  return {
    append: (session: number, { index, line }: StoredEvent, ends: number) =>
      void insertEvent.run(session, index, line, ends),
    changeMessage: (session: number, change: MessageChange, completed: number | null): void => {
      const { sequence } = change;
      if (change.kind === 'mark') markMessage.run(change.state, completed, session, sequence);
      else insertMessage.run(session, sequence, change.deliveryId, change.text);
    },
  };
}

export function createLogReads(database: SqliteDatabase) {
  const one = database.prepare<[number, number], StoredEvent & { readonly ends: number }>(
    'SELECT position AS "index", line, ends FROM events WHERE session = ? AND position = ?',
  );
  const more = database.prepare<[{ session: number; from: number; mostEnds: number }], StoredEvent>(
    `SELECT position AS "index", line FROM events
     WHERE session = $session AND position >= $from AND position < $from + ${eventsPerQuery}
       AND ends <= $mostEnds
     ORDER BY position`,
  );
  // In bytes, because counting the characters of a long line is as slow as reading it.
  const part = database.prepare<[number, number, number], { bytes: number; part: Buffer }>(
    `SELECT octet_length(line) AS bytes, substr(CAST(line AS BLOB), ? + 1, ${chunkLength}) AS part
     FROM events WHERE session = ? AND position = ? AND bytes > ${chunkLength}`,
  );
  const textOf = 'SELECT text FROM messages WHERE session = ? AND sequence = ?';
  const text = database.prepare<[number, number], string>(textOf).pluck();
  const messages = database.prepare<[number], SessionMessage>(
    `SELECT sequence, delivery_id AS deliveryId, text, state FROM messages
     WHERE session = ? ORDER BY sequence`,
  );
  const answered = database.prepare<[number, number, number], AnsweredTurn>(
    `SELECT text AS question, line FROM messages
     JOIN events ON events.session = messages.session AND position = completed_event
     WHERE messages.session = ? AND sequence < ? AND state = 'completed'
     ORDER BY sequence DESC LIMIT ?`,
  );
  return {
    events: (session: number, from: number): readonly StoredEvent[] => {
      const first = one.get(session, from);
      if (first === undefined) return [];
      const { index, line, ends } = first;
      const found: StoredEvent[] = [{ index, line }];
      const mostEnds = ends - line.length + chunkLength;
      for (let full = true; full && found.length < maxChunkEvents; ) {
        const next = more.all({ session, from: from + found.length, mostEnds });
        found.push(...next);
        full = next.length === eventsPerQuery;
      }
      return found;
    },
    part: (session: number, index: number, offset: number) => {
      const found = part.get(offset, session, index);
      if (found === undefined) return undefined;
      return { bytes: found.part, isLast: offset + found.part.length >= found.bytes };
    },
    text,
    messages,
    answered,
  };
}
