import type { Client } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { type HttpClient, HttpFailure, type RequestContext } from '../core/http/http-client.ts';
import { ProviderError } from '../platforms/provider-error.ts';

interface PaceOptions {
  readonly perMinute: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
}

const minuteMs = 60_000;

const turnsForOthers = 5; // one in this many turns is left to requests that are not unhurried

/** Requests can arrive later than they start, and those of a burst closer to the next one. */
const slackMs = 2000;

const fairTurns = 100; // number of turns in 60 seconds that a client may take however few are left

/**
 * Returns a client that starts at most `perMinute` requests in any 60 seconds; others wait in order.
 * Unhurried ones take at most four fifths of the turns. Beyond 100 turns a client takes no more than are
 * left. `get` also throws ProviderError `throttled` if the turn would come too late.
 */
export function withPace(http: HttpClient, options: PaceOptions): HttpClient {
  const { perMinute, maxWaitMs, clock } = options;
  const turns = createTurnWindow(perMinute);
  const reserved = Math.floor(perMinute / turnsForOthers);
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
    // Others may come first meanwhile, so nothing is taken before its time.
    for (;;) {
      const now = clock.now();
      const freeAt = turns.freeAt(reserved, now - slackMs) + slackMs;
      const at = Math.max(freeAt, turns.fairAt(name, now));
      if (at <= now) return turns.take(now, name);
      await waitForTurn(at - now, clock, signal);
    }
  };
  return {
    get: async (url, context) => {
      await (context.isUnhurried === true ? awaitSpareTurn : takeTurn)(context);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

const usedUp = 'This server has used up its pace with the upstream.';
const usedUpByClient = 'This client address has used up its part of the pace with the upstream.';

function throttled(message: string, waitMs: number, isGeneral: boolean): ProviderError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new ProviderError('throttled', message, { retryAfterSeconds, isGeneral });
}

/** An IPv6 client is counted by its /48, because it can have any number of addresses in there. */
function nameOf(client: Client | null | undefined): string | null {
  return client?.network ?? client?.address ?? null;
}

interface Turn {
  readonly atMs: number;
  readonly name: string | null;
}

/** Creates the turns of the last 60 seconds. All times in milliseconds since the epoch. */
function createTurnWindow(perMinute: number) {
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
    /** Returns when a turn is free, with `left` turns to spare for others. */
    freeAt: (left: number, nowMs: number): number => {
      const turn = turns[turns.length - perMinute + left];
      return turn === undefined ? nowMs : Math.max(nowMs, turn.atMs + minuteMs);
    },
    /** Returns when enough turns are forgotten that a client has its fair part of them or less. */
    fairAt: (name: string | null, nowMs: number): number => {
      forgetBefore(nowMs - minuteMs - slackMs);
      let own = taken.get(name ?? '') ?? 0;
      let left = perMinute - turns.length;
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
    throw new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  });
}
