import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { authorizationFault, readBearer } from '../../access/keys/authorization.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { createFailedTries } from './tries.ts';

/** What the guard of the admin routes may use. */
export interface AdminGuardOptions {
  /** Without one nobody has access. */
  readonly token: string | undefined;
  readonly clock: Clock;
  /** Gives the name of the client's address. */
  readonly clientOf: (request: FastifyRequest) => string;
}

/**
 * Lets a request pass that presents the admin token as `Authorization: Bearer`.
 *
 * @throws Problem `unauthorized`, after an ever longer delay if an address keeps trying; `overloaded`
 */
export type AdminGuard = (request: FastifyRequest) => Promise<void>;

/** Creates the guard. It is a hook for `onRequest`, before a body is read. */
export function createAdminGuard({ token, clock, clientOf }: AdminGuardOptions): AdminGuard {
  const expected = token === undefined ? null : toDigest(token);
  const failedTries = createFailedTries(clock);
  return async (request) => {
    const presented = readToken(request);
    // Who presents nothing has tried nothing: crawlers and browsers come by, and learn nothing from it.
    if (presented === null) throw unauthorized();
    const client = clientOf(request);
    const before = await failedTries.holdBack(client, request.signal);
    if (before === 'left') throw unauthorized();
    if (expected !== null && timingSafeEqual(toDigest(presented), expected)) return;
    if (before === 'passed') await failedTries.slow(client, request.signal);
    throw unauthorized();
  };
}

/** Gives the token of a request; null where there is none, or where it cannot be told which one is meant. */
function readToken({ raw }: FastifyRequest): string | null {
  return authorizationFault(raw) === null ? readBearer(raw) : null;
}

/** Digests have one length, so that they are compared in constant time whatever was sent. */
function toDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Says the same whether a token was wrong, missing, or is not configured at all. */
function unauthorized(): Problem {
  return new Problem('unauthorized', {
    detail: 'This route is for the operator of this server alone.',
  });
}
