import { z } from 'zod';

const place = { path: z.string(), heading: z.string(), line: z.int(), endLine: z.int() };
const citation = z.object({ ...place, score: z.number() }).meta({ id: 'SessionCitation' });

const turn = { sequence: z.int().min(0), turnId: z.string() };
const step = { ...turn, stepIndex: z.literal(0) };
const fault = {
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
};

const meta = z.object({
  id: z.string().describe('`evt_` and a ULID; the same on every read.'),
  at: z.iso.datetime({ precision: 3 }).describe('When it was recorded, in UTC.'),
  deliveryIds: z
    .array(z.string())
    .exactOptional()
    .describe('The delivery that the turn answers, from `turn.started` to its `session.waiting`.'),
  index: z.int().min(0).describe('The position in the session; resume with the next one.'),
});

const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), data: z.object(shape), meta });

const finishReason = z.enum(['stop', 'length', 'error']);

const fallback = z
  .object({
    modelId: z.string().describe('Who answered.'),
    code: z.string().describe('Why the model did not, or not to the end; begins with `model_`.'),
    message: z.string().describe('The same as a sentence.'),
  })
  .describe('Present where the model that `step.started` names did not answer, or not to the end.');

const endReason = z.enum(['reset', 'expired', 'evicted', 'turn_limit']);

/** Ends the text of a turn; its `message` is the assistant message. */
export const messageCompleted = event('message.completed', {
  message: z.string().describe('The whole answer.'),
  finishReason,
  citations: z.array(citation).describe('Best first.'),
  abstained: z.boolean().describe('True where the corpus does not answer the question.'),
  ...step,
}).describe('The answer, whole. The last one of a stream is the answer to the last question.');

/** All session events: each line of a stream is one of them. */
export const sessionEvent = z
  .discriminatedUnion('type', [
    event('session.started', {
      runtime: z.object({ agentId: z.string(), agentName: z.string(), eveVersion: z.string() }),
    }).describe('The first event of a session.'),
    event('turn.started', turn).describe('A message is being answered.'),
    event('message.received', {
      message: z.string(),
      parts: z.array(z.object({ type: z.literal('text'), text: z.string() })),
      ...turn,
    }).describe('The question, as it was accepted.'),
    event('step.started', { modelId: z.string(), ...step }).describe('What answers has begun.'),
    event('message.appended', {
      messageDelta: z.string(),
      messageSoFar: z.string().describe('Ends with `messageDelta`.'),
      ...step,
    }).describe('More of the answer.'),
    messageCompleted,
    event('step.completed', {
      finishReason,
      usage: z.record(z.string(), z.number()).exactOptional(),
      fallback: fallback.exactOptional(),
      ...step,
    }).describe('What answers has ended well.'),
    event('step.failed', { ...fault, ...step }).describe('What answers has failed.'),
    event('turn.completed', turn).describe('The question was answered.'),
    event('turn.failed', {
      ...fault,
      terminal: z.boolean().describe('True only where `session.failed` follows.'),
      ...turn,
    }).describe('The question could not be answered.'),
    event('turn.cancelled', turn).describe('The turn was cancelled.'),
    event('session.waiting', {
      wait: z.literal('next-user-message'),
      continuationToken: z
        .string()
        .describe('Empty, but for a reader who has shown the token in this request.'),
    }).describe('Ends every turn, also when another one is queued.'),
    event('session.completed', { reason: endReason }).describe(
      'The last event of a session that has ended.',
    ),
    event('session.failed', { ...fault, sessionId: z.string() }).describe(
      'The last event of a session that has failed.',
    ),
  ])
  .meta({ id: 'SessionEvent' });

export type SessionEvent = z.output<typeof sessionEvent>;

export type EndReason = z.output<typeof endReason>;

export type SessionCitation = z.output<typeof citation>;

/** An event before it is recorded: without its place, and with the delivery it belongs to. */
export type EventDraft = {
  [Type in SessionEvent['type']]: {
    readonly type: Type;
    readonly data: Extract<SessionEvent, { type: Type }>['data'];
    readonly deliveryId: string | null;
  };
}[SessionEvent['type']];

/** Ends a leased stream; it is no event, has no index and is never recorded. */
export const leaseRecord = z
  .object({ $eve: z.literal('stream.lease-ended'), version: z.literal(1) })
  .meta({ id: 'SessionLeaseEnded' });

export type LeaseRecord = z.infer<typeof leaseRecord>;

export type EventStamp = Readonly<{ id: string; atMs: number; index: number }>;

/** Returns the line of an event as it is recorded, without its line feed; it never holds the token. */
export function toEventLine({ type, data, deliveryId }: EventDraft, stamp: EventStamp): string {
  const { id, atMs, index } = stamp;
  const at = new Date(atMs).toISOString();
  const deliveryIds = deliveryId === null ? {} : { deliveryIds: [deliveryId] };
  return JSON.stringify({ type, data, meta: { id, at, ...deliveryIds, index } });
}

/** Returns a recorded line with the token, if the event has a place for it. */
export function fillToken(line: string, token: string): string {
  // Such an event holds nothing that a caller wrote, so that the place is found for certain.
  if (!line.startsWith('{"type":"session.waiting"')) return line;
  return line.replace('"continuationToken":""', `"continuationToken":"${token}"`);
}
