import * as z from 'zod';
import { answerMembers } from '../answers/answer.ts';

const turn = { sequence: z.int().min(0), turnId: z.string() };
const step = { ...turn, stepIndex: z.literal(0) };
const fault = {
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
};

const meta = z.object({
  id: z
    .string()
    .describe('Id of the event: `evt_` and a ULID. The same in each read of the session.'),
  at: z.iso.datetime({ precision: 3 }).describe('Time at which the event was recorded, in UTC.'),
  deliveryIds: z
    .array(z.string())
    .exactOptional()
    .describe(
      'Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`.',
    ),
  index: z
    .int()
    .min(0)
    .describe(
      'Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1.',
    ),
});

const event = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), data: z.object(shape), meta });

const finishReason = z.enum(['stop', 'length', 'error']);

const fallback = z
  .object({
    modelId: z
      .string()
      .describe(
        'Id of the replacement, such as the built-in answer engine, which wrote the answer or finished the answer of the model.',
      ),
    code: z
      .string()
      .describe('Code of the reason why the model gave no usable answer; begins with `model_`.'),
    message: z.string().describe('Sentence that explains the reason in `code`.'),
  })
  .describe(
    'Answer engine that replaced the model named in `step.started`. Present only if the model gave no usable answer.',
  );

const endReason = z.enum(['reset', 'expired', 'evicted', 'turn_limit']);

export const messageCompleted = event('message.completed', {
  ...answerMembers,
  finishReason,
  ...step,
}).describe('The complete answer. The last one of a stream answers the last question.');

/** Event of a session. Each event is one line of the session's event stream. */
export const sessionEvent = z
  .discriminatedUnion('type', [
    event('session.started', {
      runtime: z.object({ agentId: z.string(), agentName: z.string(), eveVersion: z.string() }),
    }).describe('The first event of a session.'),
    event('turn.started', turn).describe('The server has begun to answer a message.'),
    event('message.received', {
      message: z.string(),
      parts: z.array(z.object({ type: z.literal('text'), text: z.string() })),
      ...turn,
    }).describe('The accepted question.'),
    event('step.started', { modelId: z.string(), ...step }).describe('The engine has started.'),
    event('message.appended', {
      messageDelta: z.string(),
      messageSoFar: z.string().describe('The answer so far, including `messageDelta`.'),
      ...step,
    }).describe('A part of the answer.'),
    messageCompleted,
    event('step.completed', {
      finishReason,
      usage: z.record(z.string(), z.number()).exactOptional(),
      fallback: fallback.exactOptional(),
      ...step,
    }).describe('The engine has succeeded.'),
    event('step.failed', { ...fault, ...step }).describe('The engine has failed.'),
    event('turn.completed', turn).describe('The question was answered.'),
    event('turn.failed', {
      ...fault,
      terminal: z.boolean().describe('Whether the event `session.failed` follows.'),
      ...turn,
    }).describe('The question could not be answered.'),
    event('turn.cancelled', turn).describe('The turn was cancelled.'),
    event('session.waiting', {
      wait: z.literal('next-user-message'),
      continuationToken: z
        .string()
        .describe(
          'Continuation token of the session if the request for the stream contained it; otherwise an empty string.',
        ),
    }).describe('The end of a turn, even if another turn is queued.'),
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

/** Event before storage. `deliveryId` is the id of the message that caused it. */
export type EventDraft = {
  [Type in SessionEvent['type']]: {
    readonly type: Type;
    readonly data: Extract<SessionEvent, { type: Type }>['data'];
    readonly deliveryId: string | null;
  };
}[SessionEvent['type']];

/** Last line of a stream at its time limit (the lease). It is not an event and never stored. */
export const leaseRecord = z
  .object({ $eve: z.literal('stream.lease-ended'), version: z.literal(1) })
  .meta({ id: 'SessionLeaseEnded' });

export type LeaseRecord = z.infer<typeof leaseRecord>;
export type EventStamp = Readonly<{ id: string; atMs: number; index: number }>;

/** Serializes an event as JSON without a line feed or a continuation token. */
export function toEventLine({ type, data, deliveryId }: EventDraft, stamp: EventStamp): string {
  const { id, atMs, index } = stamp;
  const at = new Date(atMs).toISOString();
  const deliveryIds = deliveryId === null ? {} : { deliveryIds: [deliveryId] };
  return JSON.stringify({ type, data, meta: { id, at, ...deliveryIds, index } });
}

/** Inserts the continuation token into a stored line, if the event has a field for it. */
export function fillToken(line: string, token: string): string {
  // A `session.waiting` event contains no text from users, so the replacement is unambiguous.
  if (!line.startsWith('{"type":"session.waiting"')) return line;
  return line.replace('"continuationToken":""', `"continuationToken":"${token}"`);
}
