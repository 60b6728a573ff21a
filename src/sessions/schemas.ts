import * as z from 'zod';

const message = z
  .union([z.string(), z.array(z.object({ type: z.literal('text'), text: z.string() }))])
  .describe('Question as a string or text parts, up to 65,536 bytes of UTF-8 by default.');

const clientContext = z.unknown().optional().describe('Accepted and ignored.');

export const startBody = z
  .looseObject({ message, clientContext })
  .meta({ id: 'SessionStart', examples: [{ message: 'How do I get a key?' }] })
  .describe('Starts a session with a message.');

export const turnPolicy = z.enum(['queue', 'steer', 'reject']);

export const followUpBody = z
  .looseObject({
    message,
    continuationToken: z
      .string()
      .optional()
      .describe('The continuation token, unless it is in the header `X-Continuation-Token`.'),
    turnPolicy: turnPolicy
      .optional()
      .describe(
        '`queue` (default) and `steer` queue the message; `reject` refuses it during a turn.',
      ),
    clientContext,
  })
  .meta({ id: 'SessionMessage', examples: [{ message: 'And what is its default?' }] })
  .describe('Sends a further message.');

export const cancelBody = z
  .looseObject({
    turnId: z.string().optional().describe('Cancels the turn only if it has this id.'),
  })
  .meta({ id: 'SessionCancel' });

export const resetBody = z
  .looseObject({
    continuationToken: z.string().optional(),
    reason: z.string().optional().describe('Accepted and ignored.'),
  })
  .meta({ id: 'SessionReset' });

const sessionId = z
  .string()
  .describe('Id of the session. Anyone who knows the id can read the session.');
const continuationToken = z
  .string()
  .describe('Opaque token for further messages. Constant for the life of the session.');
const deliveryId = z
  .string()
  .describe('Id of this message, found in `meta.deliveryIds` of the events that answer it.');

const ok = z.literal(true);
const status = z.literal('accepted');

export const startReply = z
  .object({ sessionId, continuationToken, ok, status, deliveryId })
  .meta({ id: 'SessionStarted' });

const queued = z
  .int()
  .min(0)
  .describe(
    'Number of earlier messages that are still unanswered. The server answers them before this message.',
  );

export const followUpReply = z
  .object({ ok, sessionId, continuationToken, status, deliveryId, queued })
  .meta({ id: 'SessionMessageAccepted' });

/** Reply for an active session, with only members that `eve` knows (`docs/sessions.md`). */
export const cancelReply = z
  .object({ ok, sessionId, status })
  .meta({ id: 'SessionCancelAccepted' });

/** Reply for an unknown or ended session, with members that `eve` knows (`docs/sessions.md`). */
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

/** Reply of the health route, with only members that `eve` knows (`docs/sessions.md`). */
export const healthReply = z
  .object({ ok, status: z.literal('ready'), workflowId: z.string().min(1) })
  .meta({ id: 'SessionHealth' });
