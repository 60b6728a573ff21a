import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { AnswerEngine } from '../../src/answers/answer.ts';
import { type App, buildApp } from '../../src/app/build-app.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import type { Clock } from '../../src/core/clock.ts';
import { parseQuery } from '../../src/core/http/query.ts';
import { problemKinds } from '../../src/core/problem.ts';
import { systemRandom } from '../../src/core/random.ts';
import type { LoadGauge } from '../../src/http/operations/load.ts';
import {
  chooseRead,
  isBrowseRoute,
  isClosedPath,
  isHistoryRoute,
  type Route,
  routes,
} from '../../src/http/reads/routes.ts';
import { openArchive } from '../../src/providers/archive.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { isPermalinkHandle } from '../../src/reads/addresses/match-path.ts';
import { allReads } from '../../src/reads/index.ts';
import { descriptionOf, expectDescribed } from './described-replies.ts';
import { createManualClock } from './manual-clock.ts';
import { toRowPath } from './row-path.ts';
import { checkSessionReply } from './session-replies.ts';

/** What a test may set; everything else is the default of production, in memory. */
export interface TestAppOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly providers?: readonly Provider[];
  /** Default: a manual clock. */
  readonly clock?: Clock;
  readonly load?: LoadGauge;
  /** Answers the questions of sessions. */
  readonly engine?: AnswerEngine;
  /** Receives each line of the log. */
  readonly onLog?: (line: string) => void;
}

/** An app with a client that checks every reply. It is closed when the test has finished. */
export interface TestApp extends App {
  /** Moves the manual clock on; fails with another one. */
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
  /** Makes a key by the admin interface and gives it. */
  createKey(fields?: Readonly<Record<string, unknown>>): Promise<TestKey>;
}

/** A key, and what the admin interface told of it. */
export interface TestKey {
  readonly id: string;
  readonly key: string;
  /** The header that presents it. */
  readonly headers: { readonly authorization: string };
}

/** The token of the admin routes of every test app. */
export const adminToken = 'an-admin-token-for-tests-of-40-characters';

/** The header that presents it. */
export const asAdmin = { authorization: `Bearer ${adminToken}` };

/** A busy machine is no reason to refuse the reads of a test. */
export const calm = { PERCH_MAX_EVENT_LOOP_DELAY_MS: '0' } as const;

/** Providers that read X and the sample only, for what other platforms meet on such a server. */
export const xOnly = { PERCH_PROVIDERS: 'archive,fxtwitter,syndication' } as const;

/** The configuration of tests: nothing on disk, no network, and sessions where a test asks for them. */
export function testConfig(env: Readonly<Record<string, string>> = {}): Config {
  const loaded = loadConfig({
    PERCH_DATA_DIR: ':memory:',
    PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
    PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
    PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'debug',
    PERCH_ADMIN_TOKEN: adminToken,
    PERCH_SESSIONS: 'off',
    ...calm,
    ...env,
  });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return loaded.config;
}

/** Archives with the sample by the address of their server: seeding one takes longer than building an app. */
const archives = new Map<string, Provider>();

/** Returns an archive with the sample that apps of a test file share; nothing where an app has its own. */
function toSharedArchive(config: Config): { archive?: Provider } {
  if (config.PERCH_DATA_DIR !== ':memory:' || !config.PERCH_SAMPLE) return {};
  const baseUrl = config.PERCH_BASE_URL;
  const { close, ...archive } =
    archives.get(baseUrl) ??
    openArchive({ path: ':memory:', sample: true, baseUrl, clock: createManualClock() });
  archives.set(baseUrl, archive);
  return { archive };
}

/** Builds an app for one test. */
export async function buildTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const manual = createManualClock();
  const clock = options.clock ?? manual;
  const config = testConfig(options.env);
  const app = await buildApp({
    config,
    clock,
    random: systemRandom,
    logger: pino({ level: 'debug' }, { write: (line) => options.onLog?.(line) }),
    ...(options.clock === undefined ? toSharedArchive(config) : {}),
    ...(options.providers === undefined ? {} : { providers: options.providers }),
    ...(options.load === undefined ? {} : { load: options.load }),
    ...(options.engine === undefined ? {} : { engine: options.engine }),
  });
  onTestFinished(() => app.server.close());
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
      else checkReply(reply, { linkPreviews: config.PERCH_LINK_PREVIEWS });
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
  resolution: z.string().min(10),
  retry_after: z.number().int().nonnegative().optional(),
});

/** Checks what must hold of every reply whatever: it is as described, and more that no schema says. */
export function checkReply(
  reply: LightMyRequestResponse,
  settings: { readonly linkPreviews: boolean } = { linkPreviews: false },
): void {
  expectDescribed(descriptionOf(settings), reply);
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

/** Who may read its replies depends on the origin; errors are JSON-RPC or problems. */
function isMcpPath(url: string): boolean {
  return url.split('?', 1)[0] === '/mcp';
}

/** What every reply of a row says of keys, allowances and lifecycle. */
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
  expect(reply.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(reply.headers['cache-control']).toMatch(/^(?:private, )?no-store$/);
  const problem = problemDocument.parse(reply.json());
  expect(problem.status).toBe(reply.statusCode);
  expect(problemKinds[problem.code].status).toBe(reply.statusCode);
  const retryAfter = reply.headers['retry-after'];
  expect(problem.retry_after).toBe(retryAfter === undefined ? undefined : Number(retryAfter));
}

function checkDocument(reply: LightMyRequestResponse, row: Route | undefined): void {
  if (row !== undefined && isHistoryRoute(row)) {
    expect(reply.headers.vary).toBe('Accept, Authorization');
    return;
  }
  expect(Number(reply.headers['content-length'])).toBe(Buffer.byteLength(reply.body));
  // The front page and whole URLs read what they are asked, with the headers of the read.
  const isFront = /^\/(?:$|\?|https?(?:%3A|:))/i.test(reply.raw.req.url ?? '');
  if (reply.headers['x-source'] === undefined || isFront) return;
  expect(reply.headers.etag).toMatch(/^"[\w-]+"$/);
  const { name, reply: schema } = readOf(row, reply.raw.req.url ?? '');
  expect(variance[name], `${reply.headers.vary}`).toContain(reply.headers.vary);
  if (reply.headers['content-type'] === 'application/json; charset=utf-8') {
    schema.parse(reply.json());
  } else {
    expect(reply.headers['content-type']).toMatch(/^text\/(?:markdown|html); charset=utf-8$/);
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

/** Gives the row that a URL is routed to: the one with the fewest parameters that fits. */
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

/** What cannot be decoded is routed nowhere. */
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
