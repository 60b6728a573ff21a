import type { Client } from '../core/caller.ts';
import { type Clock, createSteadyClock } from '../core/clock.ts';
import { type HttpClient, HttpFailure, type RequestContext } from '../core/http/http-client.ts';
import { ProviderError } from '../platforms/provider-error.ts';

interface RateLimitOptions {
  /** Returns the current maximum number of requests per minute, which may change. */
  readonly perMinute: () => number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
}

const minuteMs = 60_000;

const reservedShare = 5; // one fifth of all requests is reserved for requests that do not run in the background

const slackMs = 2000;

const fairTurns = 100; // number of requests in 60 seconds that each client may always start

/**
 * Returns an HTTP client that starts at most `perMinute` requests in any 60 seconds. Background
 * requests start only while less than four fifths are used. A caller with 100 or more requests in
 * the last 60 seconds must wait, unless it has started fewer than all callers together may still
 * start.
 * @throws ProviderError `throttled` from `get` if a foreground request would wait longer than
 *   `maxWaitMs`; background requests wait without a limit
 */
export function withRateLimit(http: HttpClient, options: RateLimitOptions): HttpClient {
  const { perMinute, maxWaitMs } = options;
  const clock = createSteadyClock(options.clock);
  const turns = createTurnWindow(perMinute);
  const reserved = () => Math.floor(perMinute() / reservedShare);
  const takeTurn = async ({ signal, client }: RequestContext): Promise<void> => {
    const now = clock.now();
    const name = nameOf(client);
    const freeAt = turns.freeAt(0, now);
    const at = Math.max(freeAt, turns.fairAt(name, now));
    if (freeAt - now > maxWaitMs) throw throttled(usedUp, at - now, true);
    if (at - now > maxWaitMs) throw throttled(usedUpByClient, at - now, false);
    turns.take(at, name);
    if (at > now) await waitForTurn(at - now, clock, signal);
  };
  const awaitSpareTurn = async ({ signal, client }: RequestContext): Promise<void> => {
    const name = nameOf(client);
    // Other requests may start during the wait, so this request is counted only after the wait.
    for (;;) {
      const now = clock.now();
      const freeAt = turns.freeAt(reserved(), now - slackMs) + slackMs;
      const at = Math.max(freeAt, turns.fairAt(name, now));
      if (at <= now) return turns.take(now, name);
      await waitForTurn(at - now, clock, signal);
    }
  };
  return {
    get: async (url, context) => {
      await (context.isBackground === true ? awaitSpareTurn : takeTurn)(context);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

const usedUp = 'This server has reached its rate limit for requests to the upstream.';
const usedUpByClient =
  'This client address has used up its part of the rate limit for requests to the upstream.';

function throttled(message: string, waitMs: number, isProviderWide: boolean): ProviderError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new ProviderError('throttled', message, { retryAfterSeconds, isProviderWide });
}

/** Returns the key for counting: IPv6 /48 network or IPv4 address; `null` for unknown clients. */
const nameOf = (client: Client | null | undefined): string | null =>
  client?.network ?? client?.address ?? null;

interface Turn {
  readonly atMs: number;
  readonly name: string | null;
}

function createTurnWindow(perMinute: () => number) {
  const turns: Turn[] = [];
  const taken = new Map<string, number>();
  const count = ({ name }: Turn, change: number): void => {
    if (name === null) return;
    const sum = (taken.get(name) ?? 0) + change;
    if (sum === 0) taken.delete(name);
    else taken.set(name, sum);
  };
  const removeUntil = (ms: number): void => {
    for (let [turn] = turns; turn !== undefined && turn.atMs <= ms; [turn] = turns) {
      count(turn, -1);
      turns.shift();
    }
  };
  return {
    /** Returns when a request can start so that, after it, at least `left` requests remain. */
    freeAt: (left: number, nowMs: number): number => {
      const turn = turns[turns.length - perMinute() + left];
      return turn === undefined ? nowMs : Math.max(nowMs, turn.atMs + minuteMs);
    },
    /** Returns when `name` may start: up to 100 in 60 s, or fewer than all may still start. */
    fairAt: (name: string | null, nowMs: number): number => {
      removeUntil(nowMs - minuteMs - slackMs);
      let own = taken.get(name ?? '') ?? 0;
      let left = perMinute() - turns.length;
      let atMs = nowMs;
      for (const turn of turns) {
        if (own < Math.max(left, fairTurns)) break;
        left += 1;
        if (turn.name === name) own -= 1;
        atMs = Math.max(nowMs, turn.atMs + minuteMs);
      }
      return atMs;
    },
    take: (atMs: number, name: string | null): void => {
      const turn = { atMs, name };
      turns.push(turn);
      count(turn, 1);
    },
  };
}

function waitForTurn(waitMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return clock.sleep(waitMs, signal).catch((error: unknown) => {
    throw new HttpFailure('aborted', 'The request was cancelled.', error);
  });
}
