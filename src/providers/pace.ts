import type { Client } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { type HttpClient, HttpFailure, type RequestContext } from '../core/http/http-client.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Options of `withPace`. */
export interface PaceOptions {
  /** Maximum number of requests in any 60 seconds. */
  readonly perMinute: number;
  /** Longest time that a request waits for its turn, in milliseconds. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/** One in this many turns is left to requests that are not unhurried. */
const turnsForOthers = 5;

/** Requests can arrive later than they start, and those of a burst closer to the next one. */
const slackMs = 2000;

/**
 * Returns a client that starts at most `perMinute` requests in any 60 seconds: a request over that
 * waits for its turn, in order of arrival. The one retry after a reset and a redirect within the
 * upstream belong to the request that caused them. Unhurried requests take at most four fifths of the
 * turns, and wait as long as it takes. Beyond 100 turns a client takes no more while it has
 * taken more than are left, so that one client never has more than half of them.
 *
 * The returned `get` also throws ProviderError `throttled` when the turn would come too late.
 */
export function withPace(http: HttpClient, options: PaceOptions): HttpClient {
  const turns = createTurns(options);
  return {
    get: async (url, context) => {
      await (context.isUnhurried === true ? turns.await : turns.take)(context);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

type TurnContext = Pick<RequestContext, 'signal' | 'client'>;

interface Turns {
  /** Takes the next turn and waits for it. @throws ProviderError `throttled` */
  take(context: TurnContext): Promise<void>;
  /** Waits until there is a turn to spare, and takes it. */
  await(context: TurnContext): Promise<void>;
}

function createTurns({ perMinute, maxWaitMs, clock }: PaceOptions): Turns {
  const window = createTurnWindow(perMinute);
  const reserved = Math.floor(perMinute / turnsForOthers);
  return {
    take: async ({ signal, client = null }) => {
      const now = clock.now();
      const [freeAt, fairAt] = [window.freeAt(0, now), window.fairAt(nameOf(client), now)];
      const at = Math.max(freeAt, fairAt);
      if (freeAt - now > maxWaitMs) throw throttled(usedUp, at - now, true);
      if (at - now > maxWaitMs) throw throttled(usedUpByClient, at - now, false);
      window.take(at, nameOf(client));
      if (at > now) await waitForTurn(at - now, clock, signal);
    },
    await: async ({ signal, client = null }) => {
      const name = nameOf(client);
      // Others may come first meanwhile, so nothing is taken before its time.
      for (;;) {
        const now = clock.now();
        const free = window.freeAt(reserved, now - slackMs) + slackMs;
        const at = Math.max(free, window.fairAt(name, now));
        if (at <= now) return window.take(now, name);
        await waitForTurn(at - now, clock, signal);
      }
    },
  };
}

const usedUp = 'This server has used up its pace with the upstream.';
const usedUpByClient = 'This client address has used up its part of the pace with the upstream.';

function throttled(message: string, waitMs: number, isGeneral: boolean): ProviderError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new ProviderError('throttled', message, { retryAfterSeconds, isGeneral });
}

/** An IPv6 client is counted by its /48, because it can have any number of addresses in there. */
function nameOf(client: Client | null): string | null {
  return client === null ? null : (client.network ?? client.address);
}

interface Turn {
  readonly atMs: number;
  /** The client that took the turn; `null` for the server itself. */
  readonly name: string | null;
}

/** The turns of the last 60 seconds. All times in milliseconds since the epoch. */
interface TurnWindow {
  /** Returns when a turn is free, with `left` turns to spare for others. */
  freeAt(left: number, nowMs: number): number;
  /** Returns when a client has its fair part of the turns or less. */
  fairAt(name: string | null, nowMs: number): number;
  take(atMs: number, name: string | null): void;
}

/** Number of turns in 60 seconds that a client may take however few are left. */
const fairTurns = 100;

function createTurnWindow(perMinute: number): TurnWindow {
  const turns: Turn[] = [];
  const taken = new Map<string, number>();
  const count = ({ name }: Turn, change: number): void => {
    if (name === null) return;
    const sum = (taken.get(name) ?? 0) + change;
    if (sum === 0) taken.delete(name);
    else taken.set(name, sum);
  };
  const forgetBefore = (ms: number): void => {
    for (let [turn] = turns; turn !== undefined && turn.atMs <= ms; [turn] = turns) {
      count(turn, -1);
      turns.shift();
    }
  };
  return {
    freeAt: (left, nowMs) => {
      const turn = turns[turns.length - perMinute + left];
      return turn === undefined ? nowMs : Math.max(nowMs, turn.atMs + minuteMs);
    },
    fairAt: (name, nowMs) => {
      forgetBefore(nowMs - minuteMs - slackMs);
      const own = name === null ? 0 : (taken.get(name) ?? 0);
      return own === 0 ? nowMs : Math.max(nowMs, whenFair(turns, { name, own, perMinute }));
    },
    take: (atMs, name) => {
      const turn = { atMs, name };
      turns.push(turn);
      count(turn, 1);
    },
  };
}

interface Share {
  readonly name: string | null;
  readonly own: number;
  readonly perMinute: number;
}

/** Returns the time at which enough turns are forgotten that a client has its fair part or less. */
function whenFair(turns: readonly Turn[], { name, own, perMinute }: Share): number {
  let kept = own;
  let left = perMinute - turns.length;
  let atMs = Number.NEGATIVE_INFINITY;
  for (const turn of turns) {
    if (kept < Math.max(left, fairTurns)) break;
    left += 1;
    if (turn.name === name) kept -= 1;
    atMs = turn.atMs + minuteMs;
  }
  return atMs;
}

async function waitForTurn(waitMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    throw new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  }
}
