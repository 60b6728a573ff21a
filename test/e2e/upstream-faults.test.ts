import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { clause } from '../support/clause.ts';
import {
  answerHtml,
  answerJson,
  answerRedirect,
  answerText,
  answerTruncatedJson,
  breakOff,
  type FakeHandler,
  hang,
  resetConnection,
} from '../support/fake-upstream.ts';
import { listen, upstream } from '../support/listen.ts';
import { fxBody, fxStatus } from '../support/x-payloads.ts';

/** Limits that make an outage short, in the proportions of the defaults. */
const short = {
  PERCH_CONNECT_TIMEOUT_MS: '200',
  PERCH_ATTEMPT_TIMEOUT_MS: '600',
  PERCH_READ_TIMEOUT_MS: '900',
};

/** Longer limits for faults whose bytes a busy machine may read slowly. */
const longer = {
  ...short,
  PERCH_ATTEMPT_TIMEOUT_MS: '4000',
  PERCH_READ_TIMEOUT_MS: '6000',
};

const limitsFor = (fault: string) => (fault === 'sends 10 MB' ? longer : short);

const person = { id: '7', screen_name: 'wren_test', name: 'Wren' };
const found: FakeHandler = (_request, response) =>
  answerJson(response, {
    __typename: 'Tweet',
    id_str: '20',
    text: 'From the second source',
    lang: 'en',
    created_at: '2026-03-04T09:12:00.000Z',
    entities: { hashtags: [], urls: [], user_mentions: [], symbols: [] },
    user: { id_str: person.id, name: person.name, screen_name: person.screen_name },
    favorite_count: 3,
  });
const gone: FakeHandler = (_request, response) => answerHtml(response, { status: 404 });
const maybe: FakeHandler = (_request, response) =>
  answerJson(response, { code: 404, status: null, thread: null, author: null }, { status: 404 });

/** Valid response that is unusable only because of its size. */
const whole = fxBody(fxStatus('20'), { thread: [fxStatus('20')], replies: [], cursor: null });

const faults: readonly (readonly [string, FakeHandler, string, number])[] = [
  ['hangs', hang, 'upstream_unavailable', 503],
  ['resets', resetConnection, 'upstream_unavailable', 503],
  ['breaks off', (_request, response) => breakOff(response), 'upstream_unavailable', 503],
  ['sends HTML', (_request, response) => answerHtml(response), 'upstream_error', 502],
  [
    'sends truncated JSON',
    (_request, response) => answerTruncatedJson(response),
    'upstream_error',
    502,
  ],
  [
    'sends another shape',
    (_request, response) => answerJson(response, { hello: 1 }),
    'upstream_error',
    502,
  ],
  [
    'sends 10 MB',
    (_request, response) => answerJson(response, { ...whole, filler: 'x'.repeat(10_000_000) }),
    'upstream_error',
    502,
  ],
  [
    'says 500',
    (_request, response) => answerHtml(response, { status: 500 }),
    'upstream_unavailable',
    503,
  ],
  [
    'redirects to a metadata address',
    (_request, response) => answerRedirect(response, 'http://169.254.169.254/'),
    'upstream_error',
    502,
  ],
  [
    'says 429 with Retry-After',
    (_request, response) =>
      answerText(
        response,
        { type: 'text/plain', text: 'slow down' },
        { status: 429, headers: { 'retry-after': '17' } },
      ),
    'upstream_rate_limited',
    503,
  ],
];

/** Members of bodies and problem documents that these tests check. */
interface Body {
  readonly code: string;
  readonly source: string;
  readonly posts: readonly { readonly text: string }[];
  readonly warnings: readonly string[];
  readonly providers: readonly { readonly name: string; readonly breaker: string }[];
}

async function readJson(reply: Response): Promise<Body> {
  return (await reply.json()) as Body;
}

async function setUp(first: FakeHandler, second: FakeHandler, limits = short) {
  const fxtwitter = await upstream(first);
  const syndication = await upstream(second);
  const { app, url } = await listen({
    ...limits,
    PERCH_FXTWITTER_URL: fxtwitter.url,
    PERCH_SYNDICATION_URL: syndication.url,
  });
  return { app, url, fxtwitter, syndication };
}

describe('a failing upstream', () => {
  clause(
    'read.errors.upstream_down',
    'read.errors.upstream_failure',
    'read.errors.upstream_as_problem',
  ).each(faults)(
    'returns a problem if the first %s and no other has the answer',
    async (name, fault, code, status) => {
      const { url } = await setUp(fault, hang, limitsFor(name));

      const reply = await fetch(`${url}/jack/status/20`);
      const problem = await readJson(reply);

      expect([reply.status, problem.code]).toEqual([status, code]);
      expect(reply.headers.get('retry-after')).toBe(
        code === 'upstream_error' ? null : code === 'upstream_rate_limited' ? '17' : '30',
      );
      expect(JSON.stringify(problem)).not.toMatch(/169\.254|hello|sta"|slow down|Secret page/);
    },
  );

  clause('read.errors.upstream_as_problem').each(faults)(
    'asks the next provider if the first %s',
    async (name, fault) => {
      const { url } = await setUp(fault, found, limitsFor(name));

      const reply = await fetch(`${url}/jack/status/20?format=json`);
      const body = await readJson(reply);

      expect([reply.status, reply.headers.get('x-source')]).toEqual([200, 'syndication']);
      expect(body.posts[0]?.text).toBe('From the second source');
      expect(body.warnings.join(' ')).toMatch(/thread is missing/);
    },
  );

  clause('read.errors.upstream_down').each([
    ['both say gone', maybe, gone, 404, 'not_found'],
    ['the second cannot say', maybe, hang, 503, 'upstream_unavailable'],
    ['the second is empty', maybe, (_q, r) => answerJson(r, {}), 503, 'upstream_unavailable'],
    ['only the second says gone', hang, gone, 503, 'upstream_unavailable'],
  ] as readonly (readonly [string, FakeHandler, FakeHandler, number, string])[])(
    'needs two witnesses of absence: %s',
    async (_, first, second, status, code) => {
      const { url } = await setUp(first, second);

      const reply = await fetch(`${url}/jack/status/20`);

      expect([reply.status, (await readJson(reply)).code]).toEqual([status, code]);
    },
  );

  clause('read.errors.upstream_as_problem')(
    'is answered by the second provider, marked as partial',
    async () => {
      const { url } = await setUp(maybe, found);

      const body = await readJson(await fetch(`${url}/jack/status/20?format=json`));

      expect(body.source).toBe('syndication');
      expect(body.warnings.join(' ')).toMatch(/thread is missing/);
    },
  );

  clause('read.errors.upstream_down')(
    'shows an open breaker in /health/ready, and the server stays ready',
    async () => {
      const { url, fxtwitter } = await setUp(resetConnection, resetConnection);

      for (let id = 20; id < 30; id += 1) await fetch(`${url}/jack/status/${id}?thread=off`);
      const ready = await fetch(`${url}/health/ready`);

      expect(ready.status).toBe(200);
      expect((await readJson(ready)).providers).toContainEqual(
        expect.objectContaining({ name: 'fxtwitter', breaker: 'open', platforms: ['x'] }),
      );
      // Five reads of two attempts each, and none once the circuit breaker is open.
      expect(fxtwitter.requests).toHaveLength(10);
    },
  );
});

clause('read.what.surfaces_same_bodies')(
  'concurrent reads make the upstream requests of a single read if 100 are identical',
  async () => {
    const answer: FakeHandler = async (request, response) => {
      await sleep(50);
      maybe(request, response);
    };
    const one = await setUp(answer, found);
    await fetch(`${one.url}/jack/status/20`);
    const many = await setUp(answer, found);

    const replies = await Promise.all(
      Array.from({ length: 100 }, () => fetch(`${many.url}/jack/status/20`)),
    );

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(many.fxtwitter.requests).toHaveLength(one.fxtwitter.requests.length);
    expect(many.syndication.requests).toHaveLength(one.syndication.requests.length);
  },
);
