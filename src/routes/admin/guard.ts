import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { authorizationFault, readBearer } from '../../access/keys/authorization.ts';
import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import { Problem } from '../../lib/problem.ts';

interface AdminGuardOptions {
  /** Bearer token of the server's operator; `undefined` denies all access to the admin routes. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly clientOf: (request: FastifyRequest) => string;
}

export type AdminGuard = ReturnType<typeof createAdminGuard>;

/** Creates the functions that check the admin token, with one shared counter of failures. */
export function createAdminGuard({ token, clock, clientOf }: AdminGuardOptions) {
  const expected = token === undefined ? null : toDigest(token);
  const attempts = createFailedAttempts(clock);
  /** Throws `unauthorized` after a delay, or `overloaded` if too many attempts are delayed. */
  const checkToken = async (token: string, request: FastifyRequest): Promise<void> => {
    const { signal } = request;
    const client = clientOf(request);
    const outcome = await attempts.delayIfPending(client, signal);
    if (outcome === 'aborted') throw unauthorized();
    if (expected !== null && timingSafeEqual(toDigest(token), expected)) return;
    if (outcome === 'not delayed') await attempts.recordFailure(client, signal);
    throw unauthorized();
  };
  return {
    checkToken,
    /**
     * Request hook that requires the admin token in `Authorization: Bearer`.
     * @throws Problem `unauthorized`, for a wrong token after a growing delay; `overloaded` if too
     *   many attempts are being delayed
     */
    requireToken: async (request: FastifyRequest): Promise<void> => {
      const sent = readToken(request);
      // A request without a token does not count as an attempt; crawlers and browsers send such
      // requests.
      if (sent === null) throw unauthorized();
      await checkToken(sent, request);
    },
  };
}

const readToken = ({ raw }: FastifyRequest) =>
  authorizationFault(raw) === null ? readBearer(raw) : null;

function toDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the error, which does not reveal whether the server has an admin token. */
export function unauthorized(): Problem {
  const detail = 'Only the operator of this server can use this route.';
  return new Problem('unauthorized', { detail });
}

const freeAttempts = 3;

const maxWaiting = 10_000;

interface Attempts {
  count: number;
  /** Number of requests from the address that wait for their token check or their reply. */
  waiting: number;
  /** Whether a client at the address has disconnected while its request was delayed. */
  hasAborted: boolean;
}

/** Creates functions that count failed attempts and delay later ones from the same address. */
export function createFailedAttempts(clock: Clock) {
  const byAddress = createExpiringCache<Attempts>(clock, { max: 10_000, ttlMs: 60_000 });
  let waiting = 0;
  const countAttempt = (address: string): Attempts => {
    const attempts = byAddress.peek(address) ?? { count: 0, waiting: 0, hasAborted: false };
    attempts.count += 1;
    byAddress.set(address, attempts);
    return attempts;
  };
  const wait = async (attempts: Attempts, signal: AbortSignal): Promise<'delayed' | 'aborted'> => {
    waiting += 1;
    attempts.waiting += 1;
    try {
      await clock.sleep(toDelayMs(attempts.count), signal);
      return 'delayed';
    } catch {
      // The client has disconnected and will not read the reply.
      attempts.hasAborted = true;
      return 'aborted';
    } finally {
      waiting -= 1;
      attempts.waiting -= 1;
    }
  };
  return {
    /**
     * Delays an attempt while another from the address is delayed, or within a minute of a failure
     * if a client there disconnected during a delay. Counts a delayed attempt as failed. Call it
     * before checking the token, so that correct tokens are delayed too.
     * @throws Problem `overloaded` if too many attempts are being delayed
     */
    delayIfPending: async (address: string, signal: AbortSignal) => {
      const attempts = byAddress.peek(address);
      if (attempts === undefined || (attempts.waiting === 0 && !attempts.hasAborted)) {
        return 'not delayed' as const;
      }
      if (waiting >= maxWaiting) {
        const detail = 'Too many requests with wrong tokens are waiting for their responses.';
        throw new Problem('overloaded', { detail });
      }
      return wait(countAttempt(address), signal);
    },
    /** Counts a wrong token, then delays the reply; the delay grows with the address's failures. */
    recordFailure: async (address: string, signal: AbortSignal): Promise<void> => {
      const attempts = countAttempt(address);
      if (toDelayMs(attempts.count) > 0 && waiting < maxWaiting) await wait(attempts, signal);
    },
  };
}

function toDelayMs(count: number): number {
  if (count <= freeAttempts) return 0;
  return Math.min(4000, 250 * 2 ** (count - freeAttempts - 1));
}
