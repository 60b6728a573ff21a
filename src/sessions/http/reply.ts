import type { FastifyReply, FastifyRequest } from 'fastify';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { Problem, ProblemDocument } from '../../lib/problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the session that the request is for. `null` until the server has found the session. */
    knownSession: string | null;
  }
}

type Headers = Readonly<Record<string, string>>;

export interface ProblemReplies {
  /** Converts a thrown error to a problem. Logs it if its cause is a defect of the server. */
  toProblem(error: Error, request: FastifyRequest): Problem;
  /** Returns the problem document (RFC 9457) and the response headers for a problem. */
  describe(
    problem: Problem,
    request: FastifyRequest,
  ): { readonly document: ProblemDocument; readonly headers: Headers };
  note(problem: Problem, request: FastifyRequest, reply: FastifyReply): void;
}

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
  // RFC 9110 §15.5.2: a reply with status 401 names the authentication scheme.
  const challenge = problem.code === 'missing_bearer' ? { 'www-authenticate': 'Bearer' } : {};
  return reply
    .code(problem.status)
    .headers({ ...headers, ...challenge })
    .send(toJsonBody(toSessionDocument(document)));
}

/** Adds `error` and `ok` for clients of the npm package `eve` (`docs/sessions.md`). */
export function toSessionDocument(document: ProblemDocument) {
  return { ...document, error: document.detail, ok: false };
}
