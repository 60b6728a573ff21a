import {
  createProviderBreakers,
  createProviderChain,
} from '../../src/fetching/chain/provider-chain.ts';
import type { HistoryQuery, HistoryResult } from '../../src/fetching/histories/history-result.ts';
import {
  createHistoryImporter,
  type HistoryImporter,
  type ImporterOptions,
} from '../../src/fetching/histories/import-history.ts';
import type { Pool } from '../../src/lib/caller.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { HttpAnswer, HttpClient } from '../../src/lib/http/http-client.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { withRateLimit } from '../../src/providers/rate-limit.ts';
import { timelineHandle } from './fake-timeline.ts';
import { openQuotas } from './quotas.ts';
import type { Fields } from './x-payloads.ts';

/** Creates a clock whose sleeps end at once and advance the time. */
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

/** Response of an upstream. */
export interface MadeAnswer {
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly body: Fields | string;
}

/** Creates an HTTP client that responds from memory after a given number of event-loop iterations. */
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

/** Options of a test importer. */
export interface HistoryRigOptions extends Partial<ImporterOptions> {
  readonly http: HttpClient;
  readonly perMinute?: number;
  readonly pool?: Pool;
  /** Provider in place of FxTwitter. */
  readonly providers?: readonly Provider[];
}

/** Creates an importer for FxTwitter with a leaping clock. */
export function createTestImporter(options: HistoryRigOptions): HistoryImporter {
  const clock = options.clock ?? createLeapingClock();
  const { http, perMinute = 100_000 } = options;
  const pace = { perMinute: () => perMinute, maxWaitMs: 9000, clock };
  const providers = options.providers ?? [
    createFxTwitter({ http: withRateLimit(http, pace), apiUrl: 'http://fx.example', clock }),
  ];
  const links = providers.map((provider) => ({
    provider,
    breakers: createProviderBreakers(provider, () => ({
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
    quotas: openQuotas(),
    onGone: () => undefined,
    ...options,
    clock,
    chain: createProviderChain(links, { onFailure: () => undefined }),
  });
}

/** Query for the whole history of the synthetic account. */
export const wholeHistory: HistoryQuery = {
  account: { platform: 'x', handle: timelineHandle },
  sinceSeconds: null,
  untilSeconds: null,
  maxPosts: 5000,
  withReplies: true,
  withReposts: true,
  onlyReplies: false,
  useStored: true,
  isIndex: false,
};

/** Result of an import. */
export interface Imported {
  readonly ids: readonly string[];
  readonly end: HistoryResult;
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

/** Creates a seeded random number generator for numbers from 0 to 1. */
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

/** Waits for some event-loop iterations. */
export async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
