import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { type ProblemCode, problemKinds } from '../../src/lib/problem.ts';
import { descriptionOf, expectDescribed } from './described-replies.ts';

/** Checks the rules for all responses of the session service. */
export function checkSessionReply(reply: LightMyRequestResponse): void {
  const { headers } = reply;
  // The OpenAPI description has the default path segment.
  if (reply.raw.req.url?.startsWith('/svc/') === true) {
    expectDescribed(descriptionOf(), reply);
  }
  expect(headers['x-request-id']).toMatch(/^[\w-]+$/);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['cache-control']).toMatch(/^no-store(?:, no-transform)?$/);
  expect(headers['x-session-id']).toBe(headers['x-eve-session-id']);
  if (reply.statusCode >= 400 && reply.body !== '') checkSessionProblem(reply);
}

function checkSessionProblem(reply: LightMyRequestResponse): void {
  expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  const problem = reply.json();
  const kind = problemKinds[problem.code as ProblemCode];
  expect(problem).toMatchObject({
    type: `http://localhost:8080/docs/errors#${problem.code}`,
    status: reply.statusCode,
    title: kind.title,
    resolution: kind.resolution,
    error: problem.detail,
    ok: false,
  });
  expect(kind.status).toBe(reply.statusCode);
  const retryAfter = reply.headers['retry-after'];
  expect(problem.retry_after).toBe(retryAfter === undefined ? undefined : Number(retryAfter));
  expect(reply.headers['www-authenticate']).toBe(reply.statusCode === 401 ? 'Bearer' : undefined);
}
