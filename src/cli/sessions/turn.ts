import type { Clock } from '../../core/clock.ts';
import { type SessionEvent, sessionEvent } from '../../sessions/events.ts';
import { type SessionReach, type Taken, UnreachableError } from './reach.ts';

type CompletedMessage = Extract<SessionEvent, { type: 'message.completed' }>['data'];

type TurnOutcome =
  | { readonly kind: 'answered'; readonly answer: CompletedMessage }
  /** `message` is a sentence for people. */
  | { readonly kind: 'failed'; readonly answer: CompletedMessage | null; readonly message: string };

interface TurnFollowing {
  readonly reach: Pick<SessionReach, 'read'>;
  readonly clock: Clock;
  /** Called with the text so far, whenever there is more. */
  onText(soFar: string): void;
}

/** Milliseconds before the stream is read again, by how often it broke off without anything new. */
const waitsMs = [0, 500, 1000, 2000, 4000] as const;

/**
 * Follows the turn of a question to its end. A stream that breaks off is read on from where it was.
 * Throws UnreachableError where it breaks off again and again.
 */
export async function followTurn(
  { sessionId, deliveryId, fromIndex }: Taken,
  { reach, clock, onText }: TurnFollowing,
): Promise<TurnOutcome> {
  const turn: Turn = { deliveryId, onText, nextIndex: fromIndex, outcome: null, answer: null };
  let breaks = 0;
  while (turn.outcome === null) {
    const before = turn.nextIndex;
    const fault = await readOn(turn, sessionId, reach);
    if (turn.outcome !== null) break;
    breaks = turn.nextIndex > before ? 0 : breaks + 1;
    const waitMs = waitsMs[breaks];
    if (waitMs === undefined) throw fault ?? new UnreachableError('the question has no answer');
    await clock.sleep(waitMs);
  }
  return turn.outcome;
}

/** Returns the error that broke a read off; `undefined` if it ended by itself. */
async function readOn(
  turn: Turn,
  sessionId: string,
  reach: TurnFollowing['reach'],
): Promise<UnreachableError | undefined> {
  let rest = '';
  const read = reach.read({ sessionId, fromIndex: turn.nextIndex }, (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(turn, line);
  });
  return read.then(
    () => undefined,
    (error) => {
      if (error instanceof UnreachableError) return error;
      throw error;
    },
  );
}

interface Turn {
  readonly deliveryId: string;
  readonly onText: (soFar: string) => void;
  nextIndex: number;
  outcome: TurnOutcome | null;
  answer: CompletedMessage | null;
}

function takeLine(turn: Turn, line: string): void {
  const event = parseEvent(line);
  if (event === undefined || event.meta.index < turn.nextIndex) return;
  turn.nextIndex = event.meta.index + 1;
  // The end of the session is the end of all its turns.
  const isEnd = event.type === 'session.completed' || event.type === 'session.failed';
  if (!isEnd && event.meta.deliveryIds?.includes(turn.deliveryId) !== true) return;
  if (event.type === 'message.appended') turn.onText(event.data.messageSoFar);
  if (event.type === 'message.completed') turn.answer = event.data;
  turn.outcome ??= toOutcome(event, turn.answer);
}

function toOutcome(event: SessionEvent, answer: CompletedMessage | null): TurnOutcome | null {
  switch (event.type) {
    case 'turn.completed':
      return answer && { kind: 'answered', answer };
    case 'turn.failed':
    case 'session.failed':
      return { kind: 'failed', answer, message: event.data.message };
    case 'turn.cancelled':
      return { kind: 'failed', answer, message: 'the question was cancelled' };
    case 'session.completed':
      return { kind: 'failed', answer, message: `the session has ended (${event.data.reason})` };
    default:
      return null;
  }
}

/** Returns the event of a line; `undefined` for unknown types, and for lines that are no event. */
function parseEvent(line: string): SessionEvent | undefined {
  if (line.trim() === '') return undefined;
  try {
    return sessionEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // a line that was cut is read again
  }
}
