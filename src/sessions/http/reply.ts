import type { FastifyReply, FastifyRequest } from 'fastify';
import { toJsonBody } from '../../core/http/to-json-body.ts';
import type { Problem, ProblemDocument } from '../../core/problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the session of a request. `null` until the session is known to exist. */
    knownSession: string | null;
  }
}

type Headers = Readonly<Record<string, string>>;

export interface ProblemReplies {
  /** Converts a thrown value to a problem, and logs it if it is a defect of the server. */
  toProblem(error: Error, request: FastifyRequest): Problem;
  /** Returns the document of a problem and its response headers. */
  describe(
    problem: Problem,
    request: FastifyRequest,
  ): { readonly document: ProblemDocument; readonly headers: Headers };
  note(problem: Problem, request: FastifyRequest, reply: FastifyReply): void;
}

/** Returns the headers that every session reply has. */
export function toSessionHeaders({ knownSession: id }: FastifyRequest): Headers {
  const ids = id === null ? {} : { 'x-eve-session-id': id, 'x-session-id': id };
  return { 'cache-control': 'no-store', ...ids };
}

export const sendBody = (reply: FastifyReply, body: unknown): FastifyReply =>
  reply.header('content-type', 'application/json; charset=utf-8').send(toJsonBody(body));

export function sendSessionProblem(
  error: Error,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  problems: ProblemReplies,
): FastifyReply {
  const problem = problems.toProblem(error, request);
  problems.note(problem, request, reply);
  const { document, headers } = problems.describe(problem, request);
  // RFC 9110 §15.5.2: a 401 names the scheme.
  const challenge = problem.code === 'missing_bearer' ? { 'www-authenticate': 'Bearer' } : {};
  return reply
    .code(problem.status)
    .headers({ ...headers, ...challenge, 'x-request-id': request.id })
    .send(toJsonBody(toSessionDocument(document)));
}

/** Returns a problem document with the additional members that eve clients display. */
export function toSessionDocument(document: ProblemDocument) {
  return { ...document, error: document.detail, ok: false };
}
