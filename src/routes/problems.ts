import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toJsonBody } from '../lib/http/json-bodies.ts';
import {
  Problem,
  type ProblemCode,
  type ProblemDocument,
  problemMediaType,
  quoteInput,
  toProblemDocument,
} from '../lib/problem.ts';
import { redactCredentials, redactKeys } from '../lib/redact.ts';
import { toLogFields } from '../lib/tracing/tracing.ts';
import type { Headers } from './headers.ts';
import type { AccessLog } from './monitoring/access-log.ts';

/** Maximum length of a request's URL in bytes. Requests with a longer URL get status 414. */
export const maxUrlBytes = 8192;

const frameworkProblems: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_BAD_URL: ['malformed_request', 'The path has a broken percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', `The URL is longer than ${maxUrlBytes} bytes.`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The request has no `Content-Type`, or one that this route does not support. Send `application/json`.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'payload_too_large',
    'The request body exceeds the size limit of this route.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_body', 'The request body is empty. Send JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_body', 'The request body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'malformed_request',
    'The length of the request body differs from `Content-Length`.',
  ],
};

declare module 'fastify' {
  interface FastifyReply {
    /** Code of the problem document in this reply; `null` if the reply is none. */
    problemCode: ProblemCode | null;
  }
}

/** Writer of an HTML page, which sets its headers; `null` if the client gets JSON instead. */
export type WriteProblemPage = (problem: ProblemDocument, reply: FastifyReply) => string | null;

type ProblemOptions = Readonly<{
  baseUrl: string;
  writePage: WriteProblemPage;
  accessLog: AccessLog;
  headers?: Headers;
  /** Returns the known path and query that a person probably means; `null` if none is similar. */
  suggestPath?: (target: string) => string | null;
}>;

const clientDisconnected = 499;

/** Sends a problem document or an HTML page for every failed request. */
export function setErrorHandler(app: FastifyInstance, options: ProblemOptions): void {
  app.decorateReply('problemCode', null);
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error, options));
}

/** Sends a problem document or page. Sends nothing if the client has disconnected. */
export function sendError(reply: FastifyReply, error: Error, options: ProblemOptions) {
  const { request } = reply;
  // A request that was aborted because its client disconnected has not failed.
  if (request.socket.destroyed) return reply.code(clientDisconnected).send();
  return sendProblem(reply, toProblem(error, request), options);
}

export function routeNotFound(request: FastifyRequest): Problem {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  const detail = `No route matches the path ${quoteInput(path)}.`;
  return new Problem('route_not_found', { detail });
}

/** Converts an error. Logs an unexpected one, and hides its message from the caller. */
export function toProblem(error: Error & { code?: string }, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const known = frameworkProblems[error.code ?? ''];
  if (known !== undefined) return new Problem(known[0], { detail: known[1], cause: error });
  if (!request.socket.destroyed) {
    request.log.error(
      { request_id: request.id, ...toLogFields(request.span), err: error },
      'Unexpected error while answering a request.',
    );
  }
  return new Problem('internal_error', { detail: 'An unexpected error occurred.', cause: error });
}

export function sendProblem(reply: FastifyReply, thrown: Problem, options: ProblemOptions) {
  const { request } = reply;
  const problem = thrown.code === 'route_not_found' ? addPath(thrown, request, options) : thrown;
  const { document, headers } = describeProblem(problem, request, options.baseUrl);
  recordProblem(problem, reply, options.accessLog);
  reply.code(problem.status).headers({ ...headers, ...options.headers });
  return reply.send(options.writePage(document, reply) ?? toJsonBody(document));
}

function addPath(
  problem: Problem,
  { raw: { url = '' } }: FastifyRequest,
  { suggestPath, baseUrl }: ProblemOptions,
): Problem {
  const near = suggestPath?.(url) ?? null;
  if (near === null) return problem;
  const resolution = `${problem.resolution} Did you mean \`${baseUrl}${near}\`?`;
  return problem.with({ resolution });
}

export function describeProblem(problem: Problem, { raw }: FastifyRequest, baseUrl: string) {
  const { url = '' } = raw;
  const instance = url.length > maxInstance ? undefined : toInstance(url);
  return {
    document: toProblemDocument(problem, { baseUrl, instance }),
    headers: toProblemHeaders(problem),
  };
}

/** Records a problem for the access log and the metrics. Called before the problem is sent. */
export function recordProblem({ code, status }: Problem, reply: FastifyReply, log: AccessLog) {
  reply.problemCode = code;
  log.logIfNotable(reply.request, reply, status);
}

export function toProblemHeaders(problem: Problem): Record<string, string> {
  return {
    'content-type': problemMediaType,
    'cache-control': 'no-store',
    ...(problem.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(problem.retryAfterSeconds) }),
    ...(problem.allow === undefined ? {} : { allow: problem.allow.join(', ') }),
    ...(problem.code === 'shutting_down' ? { connection: 'close' } : {}),
  };
}

const maxInstance = 2048;

/** Returns path and query without API keys and without the values of secret-looking names. */
export function toInstance(url: string): string {
  return hideSecrets(redactKeys(Buffer.from(url).toString())).replaceAll(
    /[^\x21-\x7e]|["<>\\^`{|}]/g,
    (character) => encodeURIComponent(character),
  );
}

function hideSecrets(url: string): string {
  const [path = ''] = url.split(/[?&]/, 1);
  const parameters = url.slice(path.length).split('&');
  return path.replace(/(?<=^\/).+/s, hideCredentials) + parameters.map(hideSecret).join('&');
}

const secretName = /key|token|secret|password|authorization/i;

function hideSecret(parameter: string): string {
  const names = parameter.split('=').slice(0, -1);
  const at = names.findIndex((name) => secretName.test(name));
  if (at !== -1) return `${names.slice(0, at + 1).join('=')}=…`;
  return parameter.replace(/(?<==).+/s, hideCredentials);
}

function hideCredentials(text: string): string {
  const decoded = decodeComponent(text);
  const shown = redactCredentials(decoded);
  return shown === decoded ? text : shown;
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
