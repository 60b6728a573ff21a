import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { authorizationFault, readBearer } from '../../access/keys/authorization.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';

interface AdminGuardOptions {
  /** Without a token nobody has access. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly clientOf: (request: FastifyRequest) => string;
}

export type AdminGuard = ReturnType<typeof createAdminGuard>;

/** Creates the guard, which takes the admin token as `Authorization: Bearer`. */
export function createAdminGuard({ token, clock, clientOf }: AdminGuardOptions) {
  const expected = token === undefined ? null : toDigest(token);
  const failedTries = createFailedTries(clock);
  /** @throws Problem `unauthorized`, after an ever longer delay if an address keeps trying; `overloaded` */
  return async (request: FastifyRequest): Promise<void> => {
    const { signal } = request;
    const presented = readToken(request);
    // A request without a token is no try: crawlers and browsers come by, and learn nothing from it.
    if (presented === null) throw unauthorized();
    const client = clientOf(request);
    const before = await failedTries.holdBack(client, signal);
    if (before === 'left') throw unauthorized();
    if (expected !== null && timingSafeEqual(toDigest(presented), expected)) return;
    if (before === 'passed') await failedTries.slow(client, signal);
    throw unauthorized();
  };
}

const readToken = ({ raw }: FastifyRequest) =>
  authorizationFault(raw) === null ? readBearer(raw) : null;

/** Digests have one length, so that they are compared in constant time whatever was sent. */
function toDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The message is the same for a token that is wrong, missing, or not configured. */
function unauthorized(): Problem {
  const detail = 'This route is for the operator of this server alone.';
  return new Problem('unauthorized', { detail });
}

/** Number of tries that are answered at once, so that a mistyped token costs nothing. */
const freeTries = 3;

/** Maximum number of tries that wait at once; each costs little more than an idle connection. */
const maxWaiting = 10_000;

interface Tries {
  count: number;
  waiting: number;
  hasLeft: boolean;
}

export function createFailedTries(clock: Clock) {
  const tried = new LRUCache<string, Tries>({
    maxSize: 10_000, // `max` would allocate for all entries at once
    sizeCalculation: () => 1,
    ttl: 60_000 - 1, // the cache keeps an entry for longer than `ttl` by less than a millisecond
    ttlResolution: 0,
    perf: clock,
  });
  let waiting = 0;
  const countTry = (address: string): Tries => {
    const tries = tried.peek(address) ?? { count: 0, waiting: 0, hasLeft: false };
    tries.count += 1;
    tried.set(address, tries);
    return tries;
  };
  const wait = async (tries: Tries, signal: AbortSignal): Promise<'waited' | 'left'> => {
    waiting += 1;
    tries.waiting += 1;
    try {
      await clock.sleep(toDelay(tries.count), signal);
      return 'waited';
    } catch {
      // The caller has left: nobody reads the answer, so it may come now.
      tries.hasLeft = true;
      return 'left';
    } finally {
      waiting -= 1;
      tries.waiting -= 1;
    }
  };
  return {
    /**
     * Delays a try before it is judged if another caller of its address waits for a slowed reply or has hung up on one,
     * who could otherwise tell a wrong token by the missing reply. A try that has waited counts as failed.
     *
     * @throws Problem `overloaded` if too many wait
     */
    holdBack: async (address: string, signal: AbortSignal) => {
      const tries = tried.peek(address);
      if (tries === undefined || (tries.waiting === 0 && !tries.hasLeft)) return 'passed' as const;
      if (waiting >= maxWaiting) {
        const detail = 'Too many requests with wrong tokens are waiting for their replies.';
        throw new Problem('overloaded', { detail });
      }
      return wait(countTry(address), signal);
    },
    /** Counts a failed try and waits until it may be answered: the more tries, the later. */
    slow: async (address: string, signal: AbortSignal): Promise<void> => {
      const tries = countTry(address);
      if (toDelay(tries.count) > 0 && waiting < maxWaiting) await wait(tries, signal);
    },
  };
}

/** Returns the milliseconds that a try waits. */
function toDelay(count: number): number {
  if (count <= freeTries) return 0;
  return Math.min(4000, 250 * 2 ** (count - freeTries - 1));
}
