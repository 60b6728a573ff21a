import { isRecord, parseJson, splitLines } from './bodies.ts';
import { ConnectionError } from './errors.ts';
import type { SessionEvent } from './generated.ts';
import { type RetryOptions, waitOrThrow } from './retry.ts';

/** Open event stream of a session. */
export interface EventStream {
  /** Index of the last event when the stream was opened; -1 without events. */
  readonly tailIndex: number;
  /** Parts of the stream. A part can end in the middle of a line. */
  readonly parts: AsyncIterable<Uint8Array>;
}

/** Opens the event stream of a session at an index. @throws PerchError */
export type OpenEvents = (startIndex: number) => Promise<EventStream>;

export interface FollowOptions extends Omit<RetryOptions, 'endMs'> {
  readonly open: OpenEvents;
  /** Index of the first event to read. */
  readonly startIndex: number;
  /**
   * Whether to open the stream again whenever the server ends it, until the caller stops iterating. If `false`, the
   * iteration also ends when the server has answered all questions. Default: `false`.
   */
  readonly isOpenEnded?: boolean;
}

/**
 * Iterates over the events of a session, without loss or repetition. After a lost or silent connection, the stream is
 * opened again at the first missing index. The iteration ends when the server has answered all questions.
 *
 * @throws ConnectionError if `retries` + 1 consecutive streams have no new event
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<SessionEvent> {
  const position: Position = { nextIndex: options.startIndex, last: null, isComplete: false };
  for (let failures = 0; !position.isComplete; ) {
    const before = position.nextIndex;
    let fault: unknown = new ConnectionError('connection_lost', 'The stream ended too early.');
    try {
      yield* readStream(position, options);
    } catch (error) {
      fault = error;
    }
    if (position.isComplete) return;
    // The first connection after new events is opened at once.
    failures = position.nextIndex > before ? 0 : failures + 1;
    await waitOrThrow(fault, failures, options);
  }
}

/** Read position in the events of a session. */
interface Position {
  nextIndex: number;
  /** Type of the last event; `null` before the first one. */
  last: SessionEvent['type'] | null;
  isComplete: boolean;
}

/** Opens a stream at `position.nextIndex`, yields its events, and updates `position`. */
async function* readStream(position: Position, { open, isOpenEnded = false }: FollowOptions) {
  const stream = await open(position.nextIndex);
  for await (const line of splitLines(stream.parts)) {
    const event = parseEvent(line);
    if (event === undefined || event.meta.index < position.nextIndex) continue;
    position.nextIndex = event.meta.index + 1;
    position.last = event.type;
    yield event;
  }
  const isAtTail = stream.tailIndex < position.nextIndex;
  position.isComplete = !isOpenEnded && isComplete(position.last, isAtTail);
}

/**
 * Returns whether a stream ended because all questions were answered. `last`: type of the last received event.
 * `isAtTail`: whether all events that existed when the stream was opened were received.
 */
function isComplete(last: SessionEvent['type'] | null, isAtTail: boolean): boolean {
  if (last === null) return isAtTail; // no event is missing, and no question waits
  return last === 'session.waiting' || endsSession(last);
}

/** Returns whether an event of this type is the last event of its session. */
export const endsSession = (type: SessionEvent['type']): boolean =>
  type === 'session.completed' || type === 'session.failed';

/**
 * Parses a line of an event stream. Returns `undefined` for a line that is not an event, such as
 * the last line of a stream that ends at its time limit.
 */
function parseEvent(line: string): SessionEvent | undefined {
  const event = parseJson(line);
  if (!isRecord(event) || typeof event.type !== 'string' || !isRecord(event.data)) return undefined;
  const index = isRecord(event.meta) ? event.meta.index : undefined;
  // The contract guarantees the other members.
  return Number.isSafeInteger(index) ? (event as SessionEvent) : undefined;
}
