import type { Pool } from '../../src/core/caller.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { HttpAnswer, HttpClient } from '../../src/core/http/http-client.ts';
import { createGates, createProviderChain } from '../../src/fetching/chain/provider-chain.ts';
import type { HistoryEnd } from '../../src/fetching/histories/history-end.ts';
import type { HistoryQuery } from '../../src/fetching/histories/history-query.ts';
import {
  createHistoryImporter,
  type HistoryImporter,
  type ImporterOptions,
} from '../../src/fetching/histories/import-history.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { withRateLimit } from '../../src/providers/rate-limit.ts';
import { timelineHandle } from './fake-timeline.ts';
import { openLedger } from './ledger.ts';
import type { Fields } from './x-payloads.ts';

/** A clock on which whoever sleeps is woken at once, when it is their time. */
export function createLeapingClock(startMs: number = Date.UTC(2026, 10, 21)): Clock {
  let now = startMs;
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

/** What an upstream answers. */
export interface MadeAnswer {
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly body: Fields | string;
}

/** Makes an HTTP client that answers from memory, after as many turns of the event loop as are said. */
export function answerFromMemory(
  answer: (url: string) => MadeAnswer | Promise<MadeAnswer>,
): HttpClient {
  return {
    get: async (url, { takeRequest, signal }): Promise<HttpAnswer> => {
      await takeRequest?.();
      const { status, retryAfterSeconds, body } = await answer(`${url.pathname}${url.search}`);
      signal.throwIfAborted();
      const isText = typeof body === 'string';
      return {
        status: status ?? (isText ? 503 : Number(body.code)),
        mediaType: isText ? 'text/html' : 'application/json',
        retryAfterSeconds,
        text: isText ? body : JSON.stringify(body),
        header: () => undefined,
      };
    },
    close: async () => undefined,
  };
}

/** What an importer of tests is made of. */
export interface HistoryRigOptions extends Partial<ImporterOptions> {
  readonly http: HttpClient;
  readonly perMinute?: number;
  readonly pool?: Pool;
  /** Instead of FxTwitter. */
  readonly providers?: readonly Provider[];
}

/** Creates an importer over FxTwitter, with a clock that leaps. */
export function createTestImporter(options: HistoryRigOptions): HistoryImporter {
  const clock = options.clock ?? createLeapingClock();
  const { http, perMinute = 100_000 } = options;
  const pace = { perMinute, maxWaitMs: 9000, clock };
  const providers = options.providers ?? [
    createFxTwitter({ http: withRateLimit(http, pace), apiUrl: 'http://fx.example', clock }),
  ];
  const links = providers.map((provider) => ({
    provider,
    gates: createGates(provider, () => ({
      clock,
      failures: 5,
      openMs: 5000,
      maxOpenMs: 30_000,
      onChange: () => undefined,
    })),
  }));
  return createHistoryImporter({
    concurrency: 8,
    firstTimeoutMs: 9000,
    timeoutMs: 120_000,
    ledger: openLedger(),
    onGone: () => undefined,
    ...options,
    clock,
    chain: createProviderChain(links, { onFailure: () => undefined }),
  });
}

/** A query for all that the made-up account has. */
export const wholeHistory: HistoryQuery = {
  account: { platform: 'x', handle: timelineHandle },
  sinceSeconds: null,
  untilSeconds: null,
  maxPosts: 5000,
  withReplies: true,
  withReposts: true,
  onlyReplies: false,
  useKept: true,
  isIndex: false,
};

/** What an import gave. */
export interface Imported {
  readonly ids: readonly string[];
  readonly end: HistoryEnd;
}

/** Runs an import to its end. */
export async function importAll(
  importer: HistoryImporter,
  query: Partial<HistoryQuery> = {},
): Promise<Imported> {
  const leaving = new AbortController();
  const { posts } = await importer.begin({ ...wholeHistory, ...query }, { signal: leaving.signal });
  const ids: string[] = [];
  for (;;) {
    const step = await posts.next();
    if (step.done === true) return { ids, end: step.value };
    ids.push(...step.value.map(({ post }) => post.id ?? ''));
  }
}

/** Gives numbers from 0 to 1 that look like chance and are the same for the same seed. */
export function createChance(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

/** Waits for some turns of the event loop. */
export async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
