import type { Clock } from '../../core/clock.ts';
import { type SessionEvent, sessionEvent } from '../../sessions/events.ts';
import { type AcceptedQuestion, type SessionClient, UnreachableError } from './session-client.ts';

type CompletedMessage = Extract<SessionEvent, { type: 'message.completed' }>['data'];

type TurnOutcome =
  | { readonly kind: 'answered'; readonly answer: CompletedMessage }
  /** Failure. `answer`: the answer, if complete before the failure, else `null`. `message`: error text for users. */
  | { readonly kind: 'failed'; readonly answer: CompletedMessage | null; readonly message: string };

interface FollowOptions {
  readonly client: Pick<SessionClient, 'read'>;
  readonly clock: Clock;
  /** Called with the whole answer so far, each time the answer grows. */
  onText(soFar: string): void;
}

/** Milliseconds to wait before reconnecting, indexed by the number of consecutive streams without a new event. */
const waitsMs = [0, 500, 1000, 2000, 4000] as const;

/** Reads events until a question is answered or fails. @throws UnreachableError after 5 streams without a new event */
export async function followTurn(
  { sessionId, deliveryId, fromIndex }: AcceptedQuestion,
  { client, clock, onText }: FollowOptions,
): Promise<TurnOutcome> {
  const turn: Turn = { deliveryId, onText, nextIndex: fromIndex, outcome: null, answer: null };
  let failures = 0;
  while (turn.outcome === null) {
    const before = turn.nextIndex;
    const fault = await readStream(turn, sessionId, client);
    if (turn.outcome !== null) break;
    failures = turn.nextIndex > before ? 0 : failures + 1;
    const waitMs = waitsMs[failures];
    if (waitMs === undefined)
      throw fault ?? new UnreachableError('The stream ended without an answer. Ask again.');
    await clock.sleep(waitMs);
  }
  return turn.outcome;
}

/** Reads the stream from the first unread event. Returns the error that ended the stream, or `undefined`. */
async function readStream(turn: Turn, sessionId: string, client: FollowOptions['client']) {
  let rest = '';
  const read = client.read({ sessionId, fromIndex: turn.nextIndex }, (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) applyLine(turn, line);
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

function applyLine(turn: Turn, line: string): void {
  const event = parseEvent(line);
  if (event === undefined || event.meta.index < turn.nextIndex) return;
  turn.nextIndex = event.meta.index + 1;
  // The end of the session ends all its turns.
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
      return { kind: 'failed', answer, message: 'The question was cancelled.' };
    case 'session.completed':
      return { kind: 'failed', answer, message: `The session has ended (${event.data.reason}).` };
    default:
      return null;
  }
}

/** Parses a line of the event stream. Returns `undefined` for unknown event types and invalid lines. */
function parseEvent(line: string): SessionEvent | undefined {
  if (line.trim() === '') return undefined;
  try {
    return sessionEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined; // an incomplete line is read again after reconnecting
  }
}
