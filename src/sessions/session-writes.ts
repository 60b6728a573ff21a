import { Problem } from '../core/problem.ts';
import { toEventLine } from './events.ts';
import type { LifeRows } from './life-rows.ts';
import type { LogRows } from './log-rows.ts';
import type { OnceRows } from './once-rows.ts';
import type { SessionRow, SessionRows } from './session-rows.ts';
import type { SessionRecord, Transition } from './state.ts';
import type {
  Acceptance,
  Message,
  Once,
  SessionCommit,
  StampEvent,
  Start,
  StoredEvent,
} from './store.ts';

/** The tables. */
export interface Rows {
  readonly sessions: SessionRows;
  readonly log: LogRows;
  readonly once: OnceRows;
  readonly life: LifeRows;
}

/** What writing needs beside the tables. */
export interface SessionWritesOptions {
  readonly stamp: StampEvent;
  /** Is told of every change. */
  readonly note: (id: string, commit: SessionCommit) => void;
}

/** The changes of the store, each inside a transaction of the caller's. */
export interface SessionWrites {
  start(start: Start): Acceptance;
  accept(message: Message): Acceptance | undefined;
  change(
    id: string,
    decide: (record: SessionRecord) => Transition | null,
  ): SessionRecord | undefined;
  purge(id: string, nowMs: number): boolean;
}

/** Creates the changes. Problems are thrown before anything is written. */
export function createSessionWrites(rows: Rows, options: SessionWritesOptions): SessionWrites {
  const { sessions, once, life } = rows;
  const apply = createApply(rows, options);
  const insert = ({ transition, receipt, once: asked }: Start): void => {
    const record = { ...transition.record, events: 0 };
    const row = { number: sessions.insert(record), bytes: 0, record };
    apply(row, transition);
    if (asked !== null) once.insert(asked, row.number, receipt);
  };
  return {
    start: (start) => {
      const repeated = recallAcceptance(once, start.once);
      if (repeated !== undefined) return repeated;
      if (life.countLive() >= start.live) {
        const idlest = sessions.findIdlest();
        if (idlest === undefined) throw tooManySessions(start.live);
        apply(idlest, start.evict(idlest.record));
      }
      insert(start);
      return { receipt: start.receipt, isRepeated: false };
    },
    accept: (message) => {
      const repeated = recallAcceptance(once, message.once);
      if (repeated !== undefined) return repeated;
      const row = sessions.find(message.sessionId);
      if (row === undefined) return undefined;
      const { transition, receipt } = message.decide(row.record);
      apply(row, transition);
      if (message.once !== null) once.insert(message.once, row.number, receipt);
      return { receipt, isRepeated: false };
    },
    change: (id, decide) => {
      const row = sessions.find(id);
      const transition = row && decide(row.record);
      return row && transition ? apply(row, transition) : undefined;
    },
    purge: (id, nowMs) => {
      const row = sessions.find(id);
      if (row === undefined) return false;
      life.purge(row, nowMs);
      options.note(id, { record: undefined, events: [] });
      return true;
    },
  };
}

function recallAcceptance(rows: OnceRows, once: Once | null): Acceptance | undefined {
  const receipt = once === null ? undefined : rows.recall(once);
  return receipt && { receipt, isRepeated: true };
}

function tooManySessions(live: number): Problem {
  return new Problem('overloaded', {
    detail: `All of the ${live} sessions that the server keeps at once are at work.`,
  });
}

type Apply = (row: SessionRow, transition: Transition) => SessionRecord;

/** Writes a transition, and tells of it. */
function createApply({ sessions, log }: Rows, { stamp, note }: SessionWritesOptions): Apply {
  return ({ number, bytes, record: before }, { record, events: drafts, messages }) => {
    const events: StoredEvent[] = [];
    let ends = bytes;
    for (const draft of drafts) {
      const index = before.events + events.length;
      const event = { index, line: toEventLine(draft, stamp(index)) };
      ends += event.line.length;
      log.append(number, event, ends);
      events.push(event);
    }
    const completed = drafts.findIndex(({ type }) => type === 'message.completed');
    const completedEvent = completed === -1 ? null : before.events + completed;
    for (const change of messages) log.changeMessage(number, change, completedEvent);
    const after = { ...record, events: before.events + events.length };
    sessions.update({ number, bytes: ends, record: after });
    note(before.id, { record: after, events });
    return after;
  };
}
