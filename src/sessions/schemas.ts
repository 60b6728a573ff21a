import { z } from 'zod';

const message = z
  .union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))])
  .describe('The question: a string, or text parts. At most 65,536 bytes of UTF-8 by default.');

const clientContext = z.unknown().optional().describe('Accepted and ignored.');

export const startBody = z
  .looseObject({ message, clientContext })
  .meta({ id: 'SessionStart' })
  .describe('Starts a session with a message.');

export const turnPolicy = z.enum(['queue', 'steer', 'reject']);

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

export const cancelBody = z
  .looseObject({ turnId: z.string().optional().describe('Cancels this turn only, if it runs.') })
  .meta({ id: 'SessionCancel' });

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

const ok = z.literal(true);
const status = z.literal('accepted');

export const startReply = z
  .object({ sessionId, continuationToken, ok, status, deliveryId })
  .meta({ id: 'SessionStarted' });

const queued = z.int().min(0).describe('How many messages are ahead; 0 where it starts now.');

export const followUpReply = z
  .object({ ok, sessionId, continuationToken, status, deliveryId, queued })
  .meta({ id: 'SessionMessageAccepted' });

/** The reply to a cancel of a session that has not ended: exactly these members. */
export const cancelReply = z
  .object({ ok, sessionId, status })
  .meta({ id: 'SessionCancelAccepted' });

/** The reply to a cancel of a session that is unknown or has ended: exactly these members. */
export const idleReply = z
  .object({ ok, status: z.literal('no_active_turn') })
  .meta({ id: 'SessionNotRunning' });

export const resetReply = z
  .object({
    ok,
    status: z.enum(['reset', 'no_active_session']),
    previousSessionId: z.string().exactOptional(),
  })
  .meta({ id: 'SessionResetDone' });

/** Exactly these members. */
export const healthReply = z
  .object({ ok, status: z.literal('ready'), workflowId: z.string().min(1) })
  .meta({ id: 'SessionHealth' });
