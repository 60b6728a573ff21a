import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  Problem,
  type ProblemCode,
  problemMediaType,
  quoteInput,
  toProblemDocument,
} from '../core/problem.ts';
import type { AccessLog } from './access-log.ts';
import type { Headers } from './headers.ts';
import { toInstance } from './instance.ts';

/** Maximum number of bytes of a request's URL; longer ones are 414. */
export const maxUrlBytes = 8192;

/** What Fastify refuses by itself, as codes of the catalogue, with a detail of our own. */
const frameworkProblems: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_BAD_URL: ['malformed_request', 'The path has a broken percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', `The URL is over ${maxUrlBytes} bytes.`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The body has no media type, or one that this route does not read; it takes `application/json`.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is over the limit of this route.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_body', 'The body is empty; it takes JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_body', 'The body is not JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'malformed_request',
    'The body is not as long as `Content-Length` says.',
  ],
};

declare module 'fastify' {
  interface FastifyReply {
    /** The code of the problem that this reply is; null for any other. */
    problemCode: ProblemCode | null;
  }
}

/** The options of sending a problem. */
interface ProblemSetting {
  readonly baseUrl: string;
  readonly accessLog: AccessLog;
  readonly headers?: Headers;
}

/** Status in the access log of a request whose caller left before the reply; it is never sent. */
const callerLeft = 499;

/** Sets the handlers that turn every failure of the server into a problem document. */
export function setProblemHandlers(app: FastifyInstance, setting: ProblemSetting): void {
  app.decorateReply('problemCode', null);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // Work that is given up because its caller left is no failure, and nobody reads the reply.
    if (request.socket.destroyed) return reply.code(callerLeft).send();
    return sendProblem(reply, toProblem(error, request), setting);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, routeNotFound(request), setting));
}

/** Returns the problem of a path that no route has. */
export function routeNotFound(request: FastifyRequest): Problem {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  return new Problem('route_not_found', { detail: `There is no route ${quoteInput(path)}.` });
}

/** Returns the problem of anything thrown. A defect is logged here, once, and not described to the caller. */
export function toProblem(error: Error & { code?: string }, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const known = frameworkProblems[error.code ?? ''];
  if (known !== undefined) return new Problem(known[0], { detail: known[1], cause: error });
  if (!request.socket.destroyed) {
    request.log.error({ request_id: request.id, err: error }, 'defect while answering a request');
  }
  return new Problem('internal_error', { detail: 'The server failed to answer.', cause: error });
}

/** Sends a problem document with the headers that go with it. */
export function sendProblem(reply: FastifyReply, problem: Problem, where: ProblemSetting) {
  const { request } = reply;
  const { document, headers } = describeProblem(problem, request, where.baseUrl);
  noteProblem(problem, reply, where.accessLog);
  return reply
    .code(problem.status)
    .header('x-request-id', request.id)
    .headers({ ...headers, ...where.headers })
    .send(JSON.stringify(document));
}

/** Returns the document of a request's problem and the headers that go with it. */
export function describeProblem(problem: Problem, { raw }: FastifyRequest, baseUrl: string) {
  const { url = '' } = raw;
  const instance = url.length > maxInstance ? undefined : toInstance(url);
  return {
    document: toProblemDocument(problem, { baseUrl, instance }),
    headers: toProblemHeaders(problem),
  };
}

/** Notes a problem that is about to be sent, for the access log and the metrics. */
export function noteProblem(
  { code, status }: Problem,
  reply: FastifyReply,
  accessLog: AccessLog,
): void {
  reply.problemCode = code;
  accessLog.notice(reply.request, reply, status);
}

/** Returns the headers that go with a problem document. */
export function toProblemHeaders(problem: Problem): Record<string, string> {
  return {
    'content-type': problemMediaType,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(problem.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(problem.retryAfterSeconds) }),
    ...(problem.allow === undefined ? {} : { allow: problem.allow.join(', ') }),
    ...(problem.code === 'shutting_down' ? { connection: 'close' } : {}),
  };
}

/** Maximum length of an `instance`; a longer one would only repeat the caller's own bytes. */
const maxInstance = 2048;
