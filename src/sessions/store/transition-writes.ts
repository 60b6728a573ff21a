import { toEventLine } from '../events.ts';
import type { StoredEvent } from './log-rows.ts';
import type { StampEvent } from './session-store.ts';
import type { SessionRecord, Transition } from './state.ts';
import { toEventBytes, toMessageBytes } from './stored-bytes.ts';

/** Data that a store writes for a transition (a change of a session): the new record, and the event lines to append. */
export interface TransitionWrites {
  readonly after: SessionRecord;
  readonly lines: readonly StoredEvent[];
  /**
   * Index of the `message.completed` event (the complete answer) among the events of the session; `null` if the
   * transition does not contain this event.
   */
  readonly completed: number | null;
}

/** Converts a transition (a change of a session) to the record and the event lines that a store writes. */
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

/** Estimates the stored bytes of the messages that a transition (a change of a session) adds. */
export function bytesOf({ messages }: Transition): number {
  const bytes = messages.map((one) => (one.kind === 'add' ? toMessageBytes(one.text) : 0));
  return bytes.reduce((sum, more) => sum + more, 0);
}
