import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { AnswerEngine } from '../../src/answers/answer.ts';
import { type Config, loadConfig, type ValidConfig } from '../../src/config/config.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import type { PublicHttpOptions } from '../../src/lib/http/public-network.ts';
import { parseQuery } from '../../src/lib/http/url.ts';
import { problemKinds } from '../../src/lib/problem.ts';
import { systemRandom } from '../../src/lib/random.ts';
import type { Tracing } from '../../src/lib/tracing/tracing.ts';
import { openArchive } from '../../src/providers/archive/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { isPermalinkHandle } from '../../src/reads/addresses/own-paths.ts';
import { allReads } from '../../src/reads/index.ts';
import type { LoadGauge } from '../../src/routes/monitoring/load.ts';
import {
  chooseRead,
  isBrowseRoute,
  isClosedPath,
  isHistoryRoute,
  type Route,
  routes,
} from '../../src/routes/reads/routes.ts';
import { type App, buildApp } from '../../src/server/build-app.ts';
import { descriptionOf, expectDescribed, isErrorPage } from './described-replies.ts';
import { createManualClock } from './manual-clock.ts';
import { openReaderHere } from './reader-here.ts';
import { addressPath, toRowPath } from './row-path.ts';
import { checkSessionReply } from './session-replies.ts';
import { withoutCoding } from './vary.ts';

/** Options of a test app. All other settings have their defaults, with storage in memory. */
export interface TestAppOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly providers?: readonly Provider[];
  /** Default: a manual clock. */
  readonly clock?: Clock;
  readonly load?: LoadGauge;
  /** Network of the hosts that requests and posts name. */
  readonly network?: PublicHttpOptions;
  /** Whether the app opens the archive itself, in a thread, as a server does. */
  readonly opensArchive?: boolean;
  /** Answer engine of the sessions. */
  readonly engine?: AnswerEngine;
  readonly tracing?: Tracing;
  /** Warnings about the settings. */
  readonly startWarnings?: readonly string[];
  /** Called with each log line. */
  readonly onLog?: (line: string) => void;
}

/** App with a client that checks all responses. It is closed at the end of the test. */
export interface TestApp extends App {
  /** Advances the manual clock. @throws Error if the app has another clock */
  advance(ms: number): Promise<void>;
  request(
    url: string,
    options?: {
      method?: string;
      headers?: Record<string, string>;
      payload?: string;
      remoteAddress?: string;
    },
  ): Promise<LightMyRequestResponse>;
  /** Creates a key with the admin API. */
  createKey(fields?: Readonly<Record<string, unknown>>): Promise<TestKey>;
}

/** Key, with the response of the admin API. */
export interface TestKey {
  readonly id: string;
  readonly key: string;
  /** Header with the token or key. */
  readonly headers: { readonly authorization: string };
}

/** Admin token of all test apps. */
export const adminToken = 'an-admin-token-for-tests-of-40-characters';

/** Header with the token or key. */
export const asAdmin = { authorization: `Bearer ${adminToken}` };

/** Setting that keeps a busy machine from refusing reads. */
export const noLoadLimit = { PERCH_MAX_EVENT_LOOP_DELAY_MS: '0' } as const;

/** Settings for tests with a real server and upstream, in which a busy machine must not cause a timeout. */
export const unhurried = {
  ...noLoadLimit,
  PERCH_CONNECT_TIMEOUT_MS: '60000',
  PERCH_ATTEMPT_TIMEOUT_MS: '60000',
  PERCH_READ_TIMEOUT_MS: '120000',
} as const;

/** Allowances that the tests of a file do not use up together. */
export const unlimited = {
  PERCH_PUBLIC_ALLOWANCE: '1000000',
  PERCH_POST_ALLOWANCE: '1000000',
  PERCH_POOL_ALLOWANCE: '1000000',
} as const;

/** Setting for providers of X and the sample only, to test other platforms without a provider. */
export const xOnly = { PERCH_PROVIDERS: 'archive,fxtwitter,syndication' } as const;

/** Returns the configuration of tests: nothing on disk, no network, and sessions only on request. */
export function testConfig(env: Readonly<Record<string, string>> = {}): Config {
  return loadTestConfig(env).config;
}

function loadTestConfig(env: Readonly<Record<string, string>>): ValidConfig {
  const loaded = loadConfig({
    PERCH_DATA_DIR: ':memory:',
    PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
    PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
    PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'debug',
    PERCH_ADMIN_TOKEN: adminToken,
    PERCH_SESSIONS: 'off',
    PERCH_CONNECT_TIMEOUT_MS: '60000', // a busy machine connects late
    ...noLoadLimit,
    ...env,
  });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return loaded;
}

/** Archives with the sample by clock and base URL. They are shared, because creating one takes as long as half an app. */
const archives = new Map<string, Provider>();

/** Returns the archive of a test app, which is read in this thread; an empty object if the app opens it itself. */
function toArchive(
  config: Config,
  { clock, providers }: Pick<TestAppOptions, 'clock' | 'providers'>,
  manual: Clock,
): { archive?: Provider } {
  const { PERCH_DATA_DIR, PERCH_SAMPLE: sample, PERCH_BASE_URL: baseUrl } = config;
  const isMissing = !config.PERCH_PROVIDERS.includes('archive');
  if (PERCH_DATA_DIR === ':memory:') {
    const isOwnClock = clock !== undefined && clock !== systemClock;
    return isMissing || !sample || isOwnClock ? {} : toSharedArchive(baseUrl, clock ?? 'manual');
  }
  if (isMissing || providers !== undefined) return {};
  const path = join(PERCH_DATA_DIR, 'archive.db');
  const options = { path, sample, baseUrl, clock: clock ?? manual };
  return { archive: openArchive({ ...options, openReader: openReaderHere }) };
}

function toSharedArchive(baseUrl: string, clock: Clock | 'manual'): { archive: Provider } {
  const key = `${clock === 'manual'} ${baseUrl}`;
  const own = clock === 'manual' ? createManualClock() : clock;
  const { close, ...archive } =
    archives.get(key) ?? openArchive({ path: ':memory:', sample: true, baseUrl, clock: own });
  archives.set(key, archive);
  return { archive };
}

/** The part of an app that most tests need. */
export type TestClient = Pick<TestApp, 'request'>;

/** App that tests share: they create no keys, stop nothing and do not move the clock. */
export interface SharedApp extends TestClient {
  open(): Promise<TestApp>;
}

/**
 * Returns a function that gives the tests of a file one app for each environment, because building an app takes longer
 * than a read. An app is built for its first request.
 */
export function shareTestApps(): (options?: Pick<TestAppOptions, 'env'>) => SharedApp {
  const apps = new Map<string, Promise<TestApp>>();
  afterAll(async () => {
    for (const app of await Promise.all(apps.values())) await app.server.close();
  });
  return ({ env = {} } = {}) => {
    const key = JSON.stringify(env);
    const open = (): Promise<TestApp> => {
      const app = apps.get(key) ?? openTestApp({ env: { ...unlimited, ...env } });
      apps.set(key, app);
      return app;
    };
    return { open, request: async (url, options) => (await open()).request(url, options) };
  };
}

/** Returns the app that the tests of a file share. */
export function shareTestApp(options?: Pick<TestAppOptions, 'env'>): SharedApp {
  return shareTestApps()(options);
}

/** Builds an app for one test. */
export async function buildTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openTestApp(options);
  onTestFinished(() => app.server.close());
  return app;
}

async function openTestApp(options: TestAppOptions): Promise<TestApp> {
  const manual = createManualClock();
  const clock = options.clock ?? manual;
  const { config, settings } = loadTestConfig(options.env ?? {});
  const app = await buildApp({
    config,
    settings,
    ...(options.startWarnings === undefined ? {} : { startWarnings: options.startWarnings }),
    clock,
    random: systemRandom,
    logger: pino({ level: 'debug' }, { write: (line) => options.onLog?.(line) }),
    ...(options.opensArchive === true ? {} : toArchive(config, options, manual)),
    ...(options.providers === undefined ? {} : { providers: options.providers }),
    ...(options.load === undefined ? {} : { load: options.load }),
    ...(options.engine === undefined ? {} : { engine: options.engine }),
    ...(options.network === undefined ? {} : { network: options.network }),
    tracing: options.tracing ?? null,
  });
  const createKey = async (fields = {}): Promise<TestKey> => {
    const payload = JSON.stringify({ label: 'test', ...fields });
    const headers = { ...asAdmin, 'content-type': 'application/json' };
    const reply = await app.server.inject({
      url: '/api/admin/keys',
      method: 'POST',
      headers,
      payload,
    });
    expect(reply.statusCode).toBe(201);
    const { id, key } = reply.json();
    return { id, key, headers: { authorization: `Bearer ${key}` } };
  };
  return {
    createKey,
    server: app.server,
    startDraining: () => app.startDraining(),
    cutOff: () => app.cutOff(),
    get inFlight() {
      return app.inFlight;
    },
    advance: async (ms) => {
      if (clock !== manual) throw new Error('This app runs on another clock.');
      await manual.advance(ms);
    },
    request: async (url, { method = 'GET', ...rest } = {}) => {
      const reply = await app.server.inject({ url, method: method as 'GET', ...rest });
      if (url.startsWith('/svc/')) checkSessionReply(reply);
      else checkReply(reply);
      // The MCP SDK writes its own messages.
      if (!isMcpPath(url) && isJson(reply)) expect(reply.body).toMatch(/^(?:|.*\n)$/s);
      return reply;
    },
  };
}

const problemDocument = z.strictObject({
  type: z.url(),
  title: z.string().min(3),
  status: z.number().int(),
  detail: z.string().regex(/[.!?]$/),
  instance: z.string().optional(),
  code: z.enum(Object.keys(problemKinds) as [keyof typeof problemKinds]),
  param: z.string().min(1).optional(),
  resolution: z.string().min(10),
  unavailable: z.object({ reason: z.string(), detail: z.string() }).optional(),
  retry_after: z.number().int().nonnegative().optional(),
});

/** Checks a response against the OpenAPI description, and rules that apply to all responses. */
export function checkReply(reply: LightMyRequestResponse): void {
  expectDescribed(descriptionOf(), reply);
  expect(reply.headers['x-request-id']).toMatch(/^[\w-]+$/);
  expect(reply.headers['x-content-type-options']).toBe('nosniff');
  expect(reply.headers['www-authenticate']).toBeUndefined();
  const { url = '' } = reply.raw.req;
  const row = routeOf(url);
  if (!isMcpPath(url)) {
    expect(reply.headers['access-control-allow-origin']).toBe(isClosedPath(url) ? undefined : '*');
  }
  if (row !== undefined) checkAccess(reply, row);
  if (reply.body === '') return;
  if (isMcpPath(url) && reply.headers['content-type'] === 'application/json; charset=utf-8') return;
  if (reply.statusCode >= 400) checkProblem(reply);
  else checkDocument(reply, row);
}

function isJson({ headers }: LightMyRequestResponse): boolean {
  return /^application\/(?:\S+\+)?json/.test(String(headers['content-type']));
}

/** Returns whether a URL is that of the MCP server, for which other CORS and error rules apply. */
function isMcpPath(url: string): boolean {
  return url.split('?', 1)[0] === '/mcp';
}

function checkAccess({ headers }: LightMyRequestResponse, row: Route): void {
  const status = headers['x-api-key-status'];
  if (isBrowseRoute(row)) expect(['valid', 'anonymous', 'invalid', 'unverified']).toContain(status);
  else expect(status).toBeUndefined();
  const policy = isBrowseRoute(row) ? /^"(?:public|key)";/ : /^"post";/;
  expect(headers['ratelimit-policy']).toMatch(policy);
  expect(headers.ratelimit).toMatch(policy);
  const isPrivate = status !== undefined && status !== 'anonymous';
  expect(headers['cache-control'] === 'private, no-store').toBe(isPrivate);
  expect(headers.deprecation).toBe(row.lifecycle === null ? undefined : '@1789430400');
}

function checkProblem(reply: LightMyRequestResponse): void {
  expect(reply.headers['cache-control']).toMatch(/^(?:private, )?no-store$/);
  if (isErrorPage(reply)) return;
  expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  const problem = problemDocument.parse(reply.json());
  expect(problem.status).toBe(reply.statusCode);
  expect(problemKinds[problem.code].status).toBe(reply.statusCode);
  const [, param] = /^The (?:parameter|member) `(\w+)`/.exec(problem.detail) ?? [];
  if (param !== undefined) expect(problem.param).toBe(param);
  const retryAfter = reply.headers['retry-after'];
  expect(problem.retry_after).toBe(retryAfter === undefined ? undefined : Number(retryAfter));
}

function checkDocument(reply: LightMyRequestResponse, row: Route | undefined): void {
  if (row !== undefined && isHistoryRoute(row)) {
    expect(withoutCoding(reply.headers.vary)).toBe('Accept, Authorization');
    return;
  }
  expect(Number(reply.headers['content-length'])).toBe(reply.rawPayload.length);
  // The front page and full URLs return a read, with the headers of that read.
  const [path = ''] = (reply.raw.req.url ?? '').split('?', 1);
  const isFront = path === '/' || toRowPath(decode(path)) === addressPath;
  if (reply.headers['x-source'] === undefined || isFront) return;
  expect(reply.headers.etag).toMatch(/^"[\w-]+"$/);
  const { name, reply: schema } = readOf(row, reply.raw.req.url ?? '');
  // Only with `PERCH_BROWSER_PAGES`.
  const vary = withoutCoding(reply.headers.vary)?.replace(/, Sec-Fetch-Mode$/, '');
  expect(variance[name], `${reply.headers.vary}`).toContain(vary);
  if (reply.headers['content-type'] === 'application/json; charset=utf-8') {
    schema.parse(reply.json());
  } else {
    expect(reply.headers['content-type']).toMatch(
      /^(?:text\/(?:markdown|html)|application\/(?:(?:atom|rss)\+xml|feed\+json)); charset=utf-8$/,
    );
  }
}

const browse = ['Accept, Authorization'];
const variance: Readonly<Record<string, readonly (string | undefined)[]>> = {
  getPost: ['Accept', 'Accept, User-Agent'],
  listReplies: ['Accept'],
  getProfile: browse,
  listFollowers: browse,
  listFollowing: browse,
  searchPosts: browse,
  getOEmbed: [undefined],
};

/** Returns the route for a URL: the matching one with the fewest parameters. */
function routeOf(url: string): Route | undefined {
  const path = toRowPath(decode(url.split('?', 1)[0] ?? ''));
  const rows = routes.filter((row) =>
    new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const [row] = rows.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);
  const [, first = ''] = path.split('/');
  const isReserved = row?.path.startsWith('/{') && !isPermalinkHandle(first);
  return isReserved ? undefined : row;
}

/** Decodes a path. Returns an unroutable path for invalid encodings. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

function readOf(row: Route | undefined, url: string): (typeof allReads)[keyof typeof allReads] {
  if (row === undefined) throw new Error(`No row of the route table fits ${url}.`);
  const query = parseQuery(url);
  return allReads[row.surface === 'alias' ? chooseRead(row, query) : row.read];
}
