import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem, ProblemDocument } from '../../core/problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the session that a request is about, once it is known; else null. */
    knownSession: string | null;
  }
}

type Headers = Readonly<Record<string, string>>;

/** Problem replies of the whole server, to which this surface adds. */
export interface ProblemTelling {
  /** Returns the problem of anything thrown, and logs a defect. */
  toProblem(error: Error, request: FastifyRequest): Problem;
  /** Returns the document of a problem and the headers that go with it. */
  describe(
    problem: Problem,
    request: FastifyRequest,
  ): { readonly document: ProblemDocument; readonly headers: Headers };
  note(problem: Problem, request: FastifyRequest, reply: FastifyReply): void;
}

/** Returns the headers of every reply. */
export function toSessionHeaders({ knownSession: id }: FastifyRequest): Headers {
  const ids = id === null ? {} : { 'x-eve-session-id': id, 'x-session-id': id };
  return { 'cache-control': 'no-store', ...ids };
}

/** Sends a JSON body. */
export function sendBody(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Sends a problem document as this surface tells it. */
export function sendSessionProblem(
  error: Error,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  problems: ProblemTelling,
): FastifyReply {
  const problem = problems.toProblem(error, request);
  problems.note(problem, request, reply);
  const { document, headers } = problems.describe(problem, request);
  // RFC 9110 §15.5.2: a 401 names the scheme.
  const challenge = problem.code === 'missing_bearer' ? { 'www-authenticate': 'Bearer' } : {};
  return reply
    .code(problem.status)
    .headers({ ...headers, ...challenge, 'x-request-id': request.id })
    .send(JSON.stringify(toSessionDocument(document)));
}

/** Returns the document of a problem with the members that eve clients show. */
export function toSessionDocument(document: ProblemDocument) {
  return { ...document, error: document.detail, ok: false };
}
