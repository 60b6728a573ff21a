import { z } from 'zod';

const textPart = z.object({ type: z.literal('text'), text: z.string() });

/** A message of a start: a string, or text parts that are joined with line breaks. */
const message = z
  .union([z.string(), z.array(textPart)])
  .describe('The question: a string, or text parts. At most 65,536 bytes of UTF-8 by default.');

const clientContext = z.unknown().optional().describe('Accepted and ignored.');

/** The body of a start. Other members are ignored. */
export const startBody = z
  .looseObject({ message, clientContext })
  .meta({ id: 'SessionStart' })
  .describe('Starts a session with a message.');

/** What a message does where a turn is queued or running. */
export const turnPolicy = z.enum(['queue', 'steer', 'reject']);

/** The body of a follow-up. Other members are ignored. */
export const followUpBody = z
  .looseObject({
    message,
    continuationToken: z
      .string()
      .optional()
      .describe('The token, where it is not in the header `X-Continuation-Token`.'),
    turnPolicy: turnPolicy
      .optional()
      .describe('`queue` is the default, `steer` the same; `reject` refuses while a turn runs.'),
    clientContext,
  })
  .meta({ id: 'SessionMessage' })
  .describe('Sends a further message.');

/** The body of a cancel; it may be left out. */
export const cancelBody = z
  .looseObject({ turnId: z.string().optional().describe('Cancels this turn only, if it runs.') })
  .meta({ id: 'SessionCancel' });

/** The body of a reset; it may be left out. */
export const resetBody = z
  .looseObject({
    continuationToken: z.string().optional(),
    reason: z.string().optional().describe('For the caller; nothing depends on it.'),
  })
  .meta({ id: 'SessionReset' });

const sessionId = z.string().describe('Names the session; whoever knows it can read it.');
const continuationToken = z
  .string()
  .describe('Opaque; stays the same for the life of the session.');
const deliveryId = z
  .string()
  .describe('Stands in `meta.deliveryIds` of the events that answer this message.');

/** The reply to a start. */
export const startReply = z
  .object({
    sessionId,
    continuationToken,
    ok: z.literal(true),
    status: z.literal('accepted'),
    deliveryId,
  })
  .meta({ id: 'SessionStarted' });

/** The reply to a follow-up. */
export const followUpReply = z
  .object({
    ok: z.literal(true),
    sessionId,
    continuationToken,
    status: z.literal('accepted'),
    deliveryId,
    queued: z.int().min(0).describe('How many messages are ahead; 0 where it starts now.'),
  })
  .meta({ id: 'SessionMessageAccepted' });

/** The reply to a cancel of a session that has not ended: exactly these members. */
export const cancelReply = z
  .object({ ok: z.literal(true), sessionId, status: z.literal('accepted') })
  .meta({ id: 'SessionCancelAccepted' });

/** The reply to a cancel of a session that is unknown or has ended: exactly these members. */
export const idleReply = z
  .object({ ok: z.literal(true), status: z.literal('no_active_turn') })
  .meta({ id: 'SessionNotRunning' });

/** The reply to a reset. */
export const resetReply = z
  .object({
    ok: z.literal(true),
    status: z.enum(['reset', 'no_active_session']),
    previousSessionId: z.string().exactOptional(),
  })
  .meta({ id: 'SessionResetDone' });

/** The health of the service: exactly these members. */
export const healthReply = z
  .object({
    ok: z.literal(true),
    status: z.literal('ready'),
    workflowId: z.string().min(1),
  })
  .meta({ id: 'SessionHealth' });
