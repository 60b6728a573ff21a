import { toIsoSeconds } from '../../core/clock.ts';
import { type SessionEvent, sessionEvent } from '../../sessions/events.ts';
import type { SessionStore } from '../../sessions/store/sqlite-store.ts';
import type { SessionRecord } from '../../sessions/store/state.ts';
import { toTable } from '../output/table.ts';

const heads = ['ID', 'STATE', 'TURNS', 'STARTED', 'LAST ACTIVE'];

/** Gives sessions as a table for people, one line for each. */
export function toSessionTable(records: readonly SessionRecord[]): string {
  if (records.length === 0) return 'There are no sessions.\n';
  return toTable(heads, records.map(toCells));
}

function toCells({ id, state, accepted, createdMs, activeMs }: SessionRecord): readonly string[] {
  return [id, state, String(accepted), toIsoSeconds(createdMs), toIsoSeconds(activeMs)];
}

/** Gives a session as an object for scripts. */
export function toSessionMembers(record: SessionRecord) {
  return {
    id: record.id,
    state: record.state,
    turns: record.accepted,
    waiting: record.pending.length,
    events: record.events,
    created_at: toIsoSeconds(record.createdMs),
    last_active_at: toIsoSeconds(record.activeMs),
    ended_at: record.endedMs === null ? null : toIsoSeconds(record.endedMs),
  };
}

/** Reads all lines of a session, each with its line feed, piece by piece. */
export async function* readLines(store: SessionStore, id: string): AsyncGenerator<string> {
  for (let from = 0; ; ) {
    const events = await store.readEvents(id, from);
    const last = events.at(-1);
    if (last === undefined) return;
    for (const { line } of events) yield `${line}\n`;
    from = last.index + 1;
  }
}

/** Gives what was said in a session, for people: each question with its answer, as it is read. */
export async function* toTranscript(
  store: SessionStore,
  record: SessionRecord,
): AsyncGenerator<string> {
  const { id, state, accepted, createdMs, activeMs } = record;
  const times = `started ${toIsoSeconds(createdMs)}, last active ${toIsoSeconds(activeMs)}`;
  yield `${id}: ${state}, ${accepted} ${accepted === 1 ? 'turn' : 'turns'}, ${times}\n`;
  for await (const line of readLines(store, id)) {
    yield tellEvent(sessionEvent.parse(JSON.parse(line)));
  }
  for (const { state: fate, text } of await store.readMessages(id)) {
    if (fate === 'queued') yield `\n${quote(text)}\n\n(waits)\n`;
  }
}

function tellEvent(event: SessionEvent): string {
  switch (event.type) {
    case 'message.received':
      return `\n${quote(event.data.message)}\n`;
    case 'message.completed':
      return `\n${event.data.message}\n`;
    case 'turn.cancelled':
      return '\n(cancelled)\n';
    case 'session.completed':
      return `\n(ended: ${event.data.reason})\n`;
    case 'session.failed':
      return `\n(failed: ${event.data.code})\n`;
    default:
      return '';
  }
}

function quote(text: string): string {
  return text.replaceAll(/^/gm, '> ');
}
