import * as z from 'zod';
import type { ProblemCode } from '../../lib/problem.ts';
import {
  declareRoutes,
  type Endpoint,
  type EndpointHeader,
  type EndpointReply,
} from '../../routes/route.ts';
import { leaseRecord, sessionEvent } from '../events.ts';
import {
  cancelBody,
  cancelReply,
  followUpBody,
  followUpReply,
  healthReply,
  idleReply,
  resetBody,
  resetReply,
  startBody,
  startReply,
} from '../schemas.ts';

const streamLine = z.union([sessionEvent, leaseRecord]).meta({ id: 'SessionStreamLine' });
export const streamMediaType = 'application/x-ndjson; charset=utf-8';
const jsonType = 'application/json; charset=utf-8';

/** Describes a header sent as `X-…` and, for npm `eve`, as `X-Eve-…` (`docs/sessions.md`). */
const underBothNames = (
  name: string,
  description: string,
  extra: Partial<EndpointHeader> = {},
) => ({
  [`X-${name}`]: { description, ...extra },
  [`X-Eve-${name}`]: { description: `Same value, for eve clients.`, ...extra },
});

const sessionHeaders = underBothNames('Session-Id', 'Id of the session.');
const vary = '`Origin`, if the server allows other origins.';
const originHeaders = { Vary: { description: vary, isOptional: true } } as const;

const commonHeaders = {
  ...underBothNames('Session-Id', 'Id of the session, if it is known.', { isOptional: true }),
  ...originHeaders,
};

const reply = (status: number, description: string, schema: z.ZodType): EndpointReply => ({
  status,
  description,
  content: { [jsonType]: schema },
  headers: sessionHeaders,
});

const path = z.object({
  sessionId: z.string().describe('The `sessionId` of the start response.'),
});

const token = 'The `continuationToken` of the start response.';
const tokenHeader = z.object({ 'X-Continuation-Token': z.string().optional().describe(token) });

const once =
  '16 to 255 characters. A request with the same key and bearer token is executed once within 24 hours.';
const onceHeader = z.object({ 'Idempotency-Key': z.string().optional().describe(once) });

const streamQuery = z.object({
  startIndex: z
    .string()
    .regex(/^-?\d+$/)
    .optional()
    .describe('Index of the first event. A negative value counts from the end. Default 0.'),
  follow: z
    .enum(['true', 'false', '1', '0'])
    .optional()
    .describe(
      'Default: ends when the session is idle. `false`: ends after the events stored so far. `true`: stays open while the session is idle.',
    ),
  streamControlVersion: z
    .string()
    .optional()
    .describe('`1`: stays open for a minute, then ends with a record that is not an event.'),
});

const messageProblems: readonly ProblemCode[] = [
  'invalid_body',
  'missing_message',
  'invalid_message',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_feature',
  'idempotency_conflict',
  'not_ready',
];
const loadProblems: readonly ProblemCode[] = ['rate_limited', 'turn_queue_full', 'overloaded'];
const sessionProblems: readonly ProblemCode[] = [
  'session_forbidden',
  'session_not_found',
  'session_expired',
  'invalid_continuation_token',
];
const tokenProblems: readonly ProblemCode[] = [
  'missing_continuation_token',
  'conflicting_continuation_tokens',
];
const bodyProblems: readonly ProblemCode[] = [
  'invalid_body',
  'payload_too_large',
  'unsupported_media_type',
];

/** Routes below the prefix of the service. */
export const sessionRoutes = declareRoutes(
  { tag: 'sessions', access: 'bearer', headers: commonHeaders },
  {
    getSessionHealth: {
      method: 'GET',
      path: '/health',
      title: 'Check whether sessions are available',
      summary: 'Checks whether the session service accepts messages.',
      replies: [{ ...reply(200, 'The service accepts messages.', healthReply), headers: {} }],
      problems: ['not_ready', 'shutting_down'],
      access: 'open',
      headers: originHeaders,
    },
    startSession: {
      method: 'POST',
      path: '/session',
      title: 'Start a session with a question',
      summary: 'Starts a session with a message.',
      description:
        '`Location` is the stream. The answer is the message of its last `message.completed` event.',
      parameters: { header: onceHeader },
      body: { 'application/json': startBody },
      replies: [
        {
          ...reply(202, 'The message is accepted. The answer follows on the stream.', startReply),
          headers: { ...sessionHeaders, Location: { description: 'Path of the stream.' } },
        },
      ],
      problems: [...messageProblems, ...loadProblems],
    },
    continueSession: {
      method: 'POST',
      path: '/session/{sessionId}',
      title: 'Ask a follow-up question in a session',
      summary: 'Sends a further message to a session.',
      description:
        'The message is answered after the earlier messages of the session. Slots are shared fairly between addresses; messages of one address are answered in the order of arrival.',
      parameters: { path, header: tokenHeader.extend(onceHeader.shape) },
      body: { 'application/json': followUpBody },
      replies: [
        reply(202, 'The message is accepted. The answer follows on the stream.', followUpReply),
      ],
      problems: [
        ...messageProblems,
        ...sessionProblems,
        ...tokenProblems,
        'session_not_active',
        'turn_in_progress',
        ...loadProblems,
      ],
    },
    streamSession: {
      method: 'GET',
      path: '/session/{sessionId}/stream',
      title: 'Stream the events of a session',
      summary: 'Streams the events of a session, one JSON object per line.',
      description:
        'Ignore unknown types and members. Spaces before a line keep an idle stream alive.',
      parameters: { path, query: streamQuery, header: tokenHeader },
      replies: [
        {
          status: 200,
          description: 'Events from `startIndex` on, as they happen.',
          content: { [streamMediaType]: streamLine },
          headers: {
            ...sessionHeaders,
            ...underBothNames('Stream-Version', '`21`.'),
            ...underBothNames('Stream-Format', '`ndjson`.'),
            ...underBothNames(
              'Stream-Tail-Index',
              'Index of the last event when the stream was opened; `-1` if there were none.',
            ),
            'X-Accel-Buffering': { description: '`no`, so that proxies do not buffer the stream.' },
          },
        },
      ],
      problems: [...sessionProblems, 'invalid_start_index', 'invalid_option', 'overloaded'],
    },
    cancelTurn: {
      method: 'POST',
      path: '/session/{sessionId}/cancel',
      title: 'Cancel the running turn of a session',
      summary: 'Cancels the running turn of a session.',
      parameters: { path, header: tokenHeader },
      body: { 'application/json': cancelBody },
      isBodyOptional: true,
      replies: [
        reply(202, 'The turn is being cancelled, if one is running. Events follow.', cancelReply),
        { ...reply(200, 'The session is unknown or has ended.', idleReply), headers: {} },
      ],
      problems: [
        'session_forbidden',
        'invalid_continuation_token',
        'conflicting_continuation_tokens',
        ...bodyProblems,
      ],
    },
    resetSession: {
      method: 'POST',
      path: '/session/{sessionId}/reset',
      title: 'End a session',
      summary: 'Ends a session.',
      parameters: { path, header: tokenHeader },
      body: { 'application/json': resetBody },
      isBodyOptional: true,
      replies: [reply(200, 'The session has ended, now or earlier.', resetReply)],
      problems: [...sessionProblems, ...tokenProblems, ...bodyProblems],
    },
  },
);

/** Returns the session routes below `segment` for the OpenAPI document. */
export function listSessionRoutes(segment: string): readonly Endpoint[] {
  return Object.values(sessionRoutes).map((one) => ({ ...one, path: `/${segment}/v1${one.path}` }));
}
