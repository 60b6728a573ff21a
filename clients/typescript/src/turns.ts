import { type Answer, ConnectionError, TurnError } from './errors.ts';
import { endsSession, type FollowOptions, followEvents } from './follow.ts';
import type { SessionEvent } from './generated.ts';

/** Session id, and the token that further questions require. Keep both secret. */
export interface Session {
  readonly id: string;
  readonly continuationToken: string;
}

/**
 * Question in a session. Iterating over it yields the events of its answer, from `turn.started` to `session.waiting`.
 */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly session: Session;
  /** Id of the question. All events of the answer contain this id. */
  readonly deliveryId: string;
  /** Index of the first event to read, counted from the start of the session. */
  readonly startIndex: number;
  /**
   * Waits for the complete answer. Calls `onText` with the whole text so far each time that new text arrives.
   * @throws TurnError, PerchError
   */
  answer(options?: { readonly onText?: (soFar: string) => void }): Promise<Answer>;
}

export interface TurnOptions extends FollowOptions, Pick<Turn, 'session' | 'deliveryId'> {}

export function createTurn(options: TurnOptions): Turn {
  const { session, deliveryId, startIndex } = options;
  const events = () => followTurn(options);
  return {
    session,
    deliveryId,
    startIndex,
    [Symbol.asyncIterator]: events,
    answer: ({ onText } = {}) => readAnswer(events(), onText),
  };
}

async function readAnswer(
  events: AsyncIterable<SessionEvent>,
  onText: ((soFar: string) => void) | undefined,
): Promise<Answer> {
  let answer: Answer | null = null;
  for await (const event of events) {
    switch (event.type) {
      case 'message.appended':
        onText?.(event.data.messageSoFar);
        break;
      case 'message.completed':
        answer = event.data;
        break;
      default:
        throwIfFailed(event, answer);
    }
  }
  if (answer !== null) return answer;
  throw new ConnectionError('connection_lost', 'The stream ended without an answer.');
}

async function* followTurn({ deliveryId, ...options }: TurnOptions): AsyncGenerator<SessionEvent> {
  for await (const event of followEvents({ ...options, isOpenEnded: true })) {
    const isEnd = endsSession(event.type);
    if (!isEnd && event.meta.deliveryIds?.includes(deliveryId) !== true) continue;
    yield event;
    if (isEnd || event.type === 'session.waiting') return;
  }
}

/**
 * Throws a TurnError if the event reports that the question failed or was cancelled, or that the session failed or
 * ended. `answer`: the answer, if it was complete before the event; otherwise `null`.
 */
function throwIfFailed(event: SessionEvent, answer: Answer | null): void {
  switch (event.type) {
    case 'turn.failed':
    case 'session.failed':
      throw new TurnError('turn_failed', event.data.message, answer);
    case 'turn.cancelled':
      throw new TurnError('turn_cancelled', 'The question was cancelled.', answer);
    case 'session.completed':
      throw new TurnError('session_ended', `The session has ended (${event.data.reason}).`, answer);
    default:
  }
}
