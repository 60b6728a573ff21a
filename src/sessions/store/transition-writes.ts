import { toEventLine } from '../events.ts';
import type { StoredEvent } from './log-rows.ts';
import type { StampEvent } from './session-store.ts';
import type { SessionRecord, Transition } from './state.ts';
import { toEventBytes, toMessageBytes } from './stored-bytes.ts';

/** Data that a store writes for a transition: the new record and the event lines to append. */
export interface TransitionWrites {
  readonly after: SessionRecord;
  readonly lines: readonly StoredEvent[];
  /** Index of `message.completed` among the session's events; `null` if there is none. */
  readonly completed: number | null;
}

export function toWrites(
  before: SessionRecord,
  transition: Transition,
  stamp: StampEvent,
): TransitionWrites {
  const { events: drafts } = transition;
  const lines: StoredEvent[] = [];
  let storedBytes = before.storedBytes + bytesOf(transition);
  let completed: number | null = null;
  for (const [at, draft] of drafts.entries()) {
    const index = before.events + at;
    const line = toEventLine(draft, stamp(index));
    storedBytes += toEventBytes(draft, line);
    lines.push({ index, line });
    if (draft.type === 'message.completed') completed ??= index;
  }
  const events = before.events + drafts.length;
  return { after: { ...transition.record, events, storedBytes }, lines, completed };
}

export function bytesOf({ messages }: Transition): number {
  const bytes = messages.map((one) => (one.kind === 'add' ? toMessageBytes(one.text) : 0));
  return bytes.reduce((sum, more) => sum + more, 0);
}
