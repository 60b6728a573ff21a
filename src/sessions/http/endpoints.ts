import { z } from 'zod';
import type { Endpoint, EndpointHeader, EndpointReply } from '../../core/endpoint.ts';
import type { ProblemCode } from '../../core/problem.ts';
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

/** Returns a header under its neutral name and under the one that eve clients read. */
const underBothNames = (
  name: string,
  description: string,
  extra: Partial<EndpointHeader> = {},
) => ({
  [`X-${name}`]: { description, ...extra },
  [`X-Eve-${name}`]: { description: `The same, for eve clients.`, ...extra },
});

const sessionHeaders = underBothNames('Session-Id', 'The session.');

const vary = '`Origin`, where the server lets other origins in.';
const originHeaders = { Vary: { description: vary, isOptional: true } } as const;

const commonHeaders = {
  ...underBothNames('Session-Id', 'The session, once it is known.', { isOptional: true }),
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
  '16 to 255 characters: the same request with the same key and bearer is carried out once in 24 hours.';
const onceHeader = z.object({ 'Idempotency-Key': z.string().optional().describe(once) });

const streamQuery = z.object({
  startIndex: z
    .string()
    .regex(/^-?\d+$/)
    .optional()
    .describe('The index of the first event; negative: counted from the end. Default 0.'),
  follow: z
    .enum(['true', 'false', '1', '0'])
    .optional()
    .describe(
      'Left out: ends once the session is idle. `false`: ends with what is recorded now. `true`: stays open across idle time.',
    ),
  streamControlVersion: z
    .string()
    .optional()
    .describe('`1`: stays open for a minute, then ends with a record that is no event.'),
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

type BearerEndpoint = Omit<Endpoint, 'tag' | 'access'> & Partial<Pick<Endpoint, 'access'>>;

/** The routes, with their paths below the prefix. By default they take a bearer, and replies have the common headers. */
const endpoints: readonly BearerEndpoint[] = [
  {
    id: 'getSessionHealth',
    method: 'GET',
    path: '/health',
    summary: 'Tells whether the session service takes messages.',
    replies: [{ ...reply(200, 'It does.', healthReply), headers: {} }],
    problems: ['not_ready', 'shutting_down'],
    access: 'open',
    headers: originHeaders,
  },
  {
    id: 'startSession',
    method: 'POST',
    path: '/session',
    summary: 'Starts a session with a message.',
    description:
      '`Location` is the stream, where the answer is the message of the last `message.completed`.',
    parameters: { header: onceHeader },
    body: { 'application/json': startBody },
    replies: [
      {
        ...reply(202, 'The message is accepted; its turn is on the stream.', startReply),
        headers: { ...sessionHeaders, Location: { description: 'The path of the stream.' } },
      },
    ],
    problems: [...messageProblems, ...loadProblems],
  },
  {
    id: 'continueSession',
    method: 'POST',
    path: '/session/{sessionId}',
    summary: 'Sends a further message to a session.',
    description:
      'It is answered after those before it in the session. Addresses take turns; the messages of one address are answered in the order of arrival.',
    parameters: { path, header: tokenHeader.extend(onceHeader.shape) },
    body: { 'application/json': followUpBody },
    replies: [reply(202, 'The message is accepted; its turn is on the stream.', followUpReply)],
    problems: [
      ...messageProblems,
      ...sessionProblems,
      ...tokenProblems,
      'session_not_active',
      'turn_in_progress',
      ...loadProblems,
    ],
  },
  {
    id: 'streamSession',
    method: 'GET',
    path: '/session/{sessionId}/stream',
    summary: 'Reads the events of a session, one JSON object on a line.',
    description:
      'Ignore types and members that you do not know. A space before a line keeps a silent stream alive.',
    parameters: { path, query: streamQuery, header: tokenHeader },
    replies: [
      {
        status: 200,
        description: 'The events from `startIndex` on, as they are recorded.',
        content: { [streamMediaType]: streamLine },
        headers: {
          ...sessionHeaders,
          ...underBothNames('Stream-Version', '`21`.'),
          ...underBothNames('Stream-Format', '`ndjson`.'),
          ...underBothNames(
            'Stream-Tail-Index',
            'The index of the last event when the response opened; `-1` for none.',
          ),
          'X-Accel-Buffering': { description: '`no`: proxies pass lines on as they come.' },
        },
      },
    ],
    problems: [...sessionProblems, 'invalid_start_index', 'invalid_option', 'overloaded'],
  },
  {
    id: 'cancelTurn',
    method: 'POST',
    path: '/session/{sessionId}/cancel',
    summary: 'Cancels the running turn of a session.',
    parameters: { path, header: tokenHeader },
    body: { 'application/json': cancelBody },
    isBodyOptional: true,
    replies: [
      reply(202, 'The session has not ended; what happens is on the stream.', cancelReply),
      { ...reply(200, 'The session is not known, or has ended.', idleReply), headers: {} },
    ],
    problems: [
      'session_forbidden',
      'invalid_continuation_token',
      'conflicting_continuation_tokens',
      ...bodyProblems,
    ],
  },
  {
    id: 'resetSession',
    method: 'POST',
    path: '/session/{sessionId}/reset',
    summary: 'Ends a session.',
    parameters: { path, header: tokenHeader },
    body: { 'application/json': resetBody },
    isBodyOptional: true,
    replies: [reply(200, 'The session has ended, now or before.', resetReply)],
    problems: [...sessionProblems, ...tokenProblems, ...bodyProblems],
  },
];

/** Returns the routes of the session service under a first path segment, for the machine description. */
export function describeSessionEndpoints(segment: string): readonly Endpoint[] {
  return endpoints.map((endpoint) => ({
    access: 'bearer',
    headers: commonHeaders,
    ...endpoint,
    path: `/${segment}/v1${endpoint.path}`,
    tag: 'sessions',
  }));
}
