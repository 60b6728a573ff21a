import { toEventLine } from '../events.ts';
import type { StoredEvent } from './log-rows.ts';
import type { StampEvent } from './session-store.ts';
import type { SessionRecord, Transition } from './state.ts';
import { toEventBytes, toMessageBytes } from './stored-bytes.ts';

/** Result of a transition: the next record, the event lines to append, and the index of `message.completed`. */
export interface TransitionWrites {
  readonly after: SessionRecord;
  readonly lines: readonly StoredEvent[];
  /** Index of the event with the complete answer; `null` if the transition has none. */
  readonly completed: number | null;
}

/** Converts a transition to the lines and the record that a store writes. */
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

/** Returns the size in bytes of the messages that a transition adds. */
export function bytesOf({ messages }: Transition): number {
  const bytes = messages.map((one) => (one.kind === 'add' ? toMessageBytes(one.text) : 0));
  return bytes.reduce((sum, more) => sum + more, 0);
}
