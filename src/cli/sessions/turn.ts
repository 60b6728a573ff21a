import type { Clock } from '../../core/clock.ts';
import { type SessionEvent, sessionEvent } from '../../sessions/events.ts';
import { type SessionReach, type Taken, UnreachableError } from './reach.ts';

/** How the turn of a question ended. */
export type TurnOutcome =
  | { readonly kind: 'answered'; readonly answer: CompletedMessage }
  /** `message` is a sentence for people. */
  | { readonly kind: 'failed'; readonly answer: CompletedMessage | null; readonly message: string };

/** The members of a `message.completed`. */
export type CompletedMessage = Extract<SessionEvent, { type: 'message.completed' }>['data'];

/** What following a turn takes. */
export interface TurnFollowing {
  readonly reach: Pick<SessionReach, 'read'>;
  readonly clock: Clock;
  /** Told of the text so far, whenever there is more. */
  onText(soFar: string): void;
}

/** The milliseconds before the stream is read again, by how often it broke off without anything new. */
const waitsMs = [0, 500, 1000, 2000, 4000] as const;

/**
 * Follows the turn of a question to its end. A stream that breaks off is read on from where it was.
 *
 * @throws UnreachableError where it breaks off again and again; Problem
 */
export async function followTurn(taken: Taken, following: TurnFollowing): Promise<TurnOutcome> {
  const turn = createTurn(taken, following);
  let breaks = 0;
  while (turn.outcome === null) {
    const before = turn.nextIndex;
    const fault = await readOn(turn, taken, following.reach);
    if (turn.outcome !== null) break;
    breaks = turn.nextIndex > before ? 0 : breaks + 1;
    const waitMs = waitsMs[breaks];
    if (waitMs === undefined) throw fault ?? new UnreachableError('the question has no answer');
    await following.clock.sleep(waitMs);
  }
  return turn.outcome;
}

/** Gives what broke a read off; undefined where it ended by itself. */
async function readOn(
  turn: Turn,
  { sessionId }: Taken,
  reach: TurnFollowing['reach'],
): Promise<UnreachableError | undefined> {
  let rest = '';
  try {
    await reach.read({ sessionId, fromIndex: turn.nextIndex }, (piece) => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) turn.take(line);
    });
    return undefined;
  } catch (error) {
    if (error instanceof UnreachableError) return error;
    throw error;
  }
}

interface Turn {
  readonly nextIndex: number;
  readonly outcome: TurnOutcome | null;
  take(line: string): void;
}

function createTurn(
  { deliveryId, fromIndex }: Taken,
  { onText }: Pick<TurnFollowing, 'onText'>,
): Turn {
  let nextIndex = fromIndex;
  let outcome: TurnOutcome | null = null;
  let answer: CompletedMessage | null = null;
  return {
    get nextIndex() {
      return nextIndex;
    },
    get outcome() {
      return outcome;
    },
    take: (line) => {
      const event = parseEvent(line);
      if (event === undefined || event.meta.index < nextIndex) return;
      nextIndex = event.meta.index + 1;
      if (!concerns(event, deliveryId)) return;
      if (event.type === 'message.appended') onText(event.data.messageSoFar);
      if (event.type === 'message.completed') answer = event.data;
      outcome ??= toOutcome(event, answer);
    },
  };
}

/** The end of the session is the end of all its turns. */
function concerns({ type, meta }: SessionEvent, deliveryId: string): boolean {
  if (type === 'session.completed' || type === 'session.failed') return true;
  return meta.deliveryIds?.includes(deliveryId) === true;
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

/** Gives the event of a line; undefined for types that are not known here, and for no event at all. */
function parseEvent(line: string): SessionEvent | undefined {
  if (line.trim() === '') return undefined;
  try {
    return sessionEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // a line that was cut is read again
  }
}
