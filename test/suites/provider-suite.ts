import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { type HttpClient, openHttpClient } from '../../src/lib/http/http-client.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import { type Facet, type Post, post as postSchema } from '../../src/model/post.ts';
import type { Answers, PostFound, PostQuery, Query, QueryKind } from '../../src/model/queries.ts';
import type { PostReference } from '../../src/model/reference.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Fetch, Provider, ProviderContext } from '../../src/providers/provider.ts';
import {
  answerBytes,
  answerHtml,
  answerJson,
  answerRedirect,
  answerTruncatedJson,
  breakOff,
  type FakeHandler,
  type FakeUpstream,
  hang,
  resetConnection,
  startFakeUpstream,
} from '../support/fake-upstream.ts';
import { expectReadable } from '../support/printed-urls.ts';

/** Dependencies of a provider under test; each provider takes what it needs. */
export interface CreateOptions {
  readonly http: HttpClient;
  readonly apiUrl: string;
  readonly clock: Clock;
}

/** Provider with an upstream for it. */
export interface ProviderSetup {
  create(options: CreateOptions): Provider;
  /** Post that `healthy` has, with a thread and replies if the provider supports them. */
  readonly post: PostReference;
  readonly healthy: FakeHandler;
  /** Handler that answers like the upstream for a missing post. */
  readonly absent: FakeHandler;
  /** Post that does not exist even in the healthy upstream. Default: `post`. */
  readonly absentPost?: PostReference;
  /** Post that the provider does not cover. Default: one of the sample. */
  readonly elsewhere?: PostReference;
}

/** Provider in front of a fake upstream for one test. */
export interface Rig {
  readonly upstream: FakeUpstream;
  readonly provider: Provider;
  ask(query: PostQuery, signal?: AbortSignal): Promise<PostFound>;
}

/** Options of a rig. The clock is the system's by default. */
export interface RigOptions {
  readonly handler: FakeHandler;
  readonly attemptTimeoutMs?: number;
  readonly maxBytes?: number;
  readonly clock?: Clock;
}

const maxBytes = 262_144;

/** Puts a provider in front of a handler, runs the test, and closes everything. */
export async function withProvider<T>(
  create: ProviderSetup['create'],
  options: RigOptions,
  run: (rig: Rig) => Promise<T>,
): Promise<T> {
  const upstream = await startFakeUpstream(options.handler);
  const http = openHttpClient({
    connectTimeoutMs: 2000,
    attemptTimeoutMs: options.attemptTimeoutMs ?? 5000,
    maxBytes: options.maxBytes ?? maxBytes,
    userAgent: 'Perch-tests/1.0 (+https://perch.example/)',
    clock: { now: systemClock.now, sleep: async () => {} },
    random: { fraction: () => 0, bytes: (count) => Buffer.alloc(count) },
    heavyTurns: createHeavyTurns(createServerLoop()),
  });
  const provider = create({ http, apiUrl: upstream.url, clock: options.clock ?? systemClock });
  try {
    const ask = (query: PostQuery, signal = new AbortController().signal) =>
      askProvider(provider, query, { signal });
    return await run({ upstream, provider, ask });
  } finally {
    provider.close?.();
    await http.close();
    await upstream.close();
  }
}

/** Asks a provider for a post. Fails if the provider does not support it. */
export async function askProvider<Kind extends QueryKind>(
  provider: Provider,
  query: Answers[Kind]['query'] & { readonly kind: Kind },
  context: ProviderContext = { signal: new AbortController().signal },
): Promise<Answers[Kind]['found']> {
  const ask: Fetch<Kind> | undefined = provider.fetch[query.kind];
  if (ask === undefined) throw new Error(`The provider does not read: ${query.kind}.`);
  return ask(query, context);
}

/** Returns the error that a promise rejects with. Fails unless it is a ProviderError. */
export async function failureOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`No ProviderError but ${error}.`);
  return error;
}

/** Asks a provider in front of a handler, and returns the error. */
export async function failWith(
  create: ProviderSetup['create'],
  handler: FakeHandler,
  query: Query,
): Promise<ProviderError> {
  return withProvider(create, { handler }, ({ provider }) =>
    failureOf(askProvider(provider, query)),
  );
}

/** Returns all posts of an answer in reading order. */
export function postsOf(found: PostFound): readonly Post[] {
  return [...found.ancestors, found.post, ...found.continuation, ...found.replies];
}

/** Checks an answer of any provider. */
export function expectSound(found: PostFound): void {
  const posts = postsOf(found);
  expectSoundPosts(posts);
  expectUnique(posts);
}

/** Checks that posts and the posts they quote match the model, and that Perch reads the URLs that they contain. */
export function expectSoundPosts(posts: readonly Post[]): void {
  expectReadable(posts);
  for (const each of posts.flatMap(withQuotes)) {
    expect(postSchema.parse(each)).toEqual(each);
    if (each.type === 'status') expectFacetsFit(each.text, each.facets);
  }
}

/** Checks that nothing with an id occurs twice. Ids may be unique only for an author or a server. */
export function expectUnique(
  rows: readonly { readonly id: string | null; readonly url: string | null }[],
): void {
  const keys = rows.filter(({ id }) => id !== null).map(({ id, url }) => `${id} ${url}`);
  expect(keys).toEqual([...new Set(keys)]);
}

function withQuotes(one: Post): readonly Post[] {
  return one.type === 'status' && one.quote ? [one, ...withQuotes(one.quote)] : [one];
}

/** Checks that facets are in range, ordered and nested. */
export function expectFacetsFit(text: string, facets: readonly Facet[]): void {
  const { length } = [...text];
  let open: Facet[] = [];
  let last = 0;
  for (const facet of facets) {
    expect(facet.start).toBeGreaterThanOrEqual(last);
    expect(facet.end).toBeGreaterThan(facet.start);
    expect(facet.end).toBeLessThanOrEqual(length);
    open = open.filter(({ end }) => end > facet.start);
    for (const outer of open) expect(facet.end).toBeLessThanOrEqual(outer.end);
    open.push(facet);
    last = facet.start;
  }
}

/** Answers like `handler`, but with the media type HTML. */
function asHtml(handler: FakeHandler): FakeHandler {
  return (request, response) => {
    const { writeHead } = response;
    response.writeHead = (status: number) =>
      writeHead.call(response, status, { 'content-type': 'text/html' });
    handler(request, response);
  };
}

/** Checks that the message of a failure is a sentence without internals. */
export function expectTellable({ message }: ProviderError, upstream: FakeUpstream): void {
  expect(message).toMatch(/^[A-Z][^\n]*\.$/);
  expect(message).not.toContain('Secret page');
  expect(message).not.toContain(new URL(upstream.url).host);
}

/** Runs the cases for every provider of posts behind an upstream. */
export function providerSuite(name: string, setup: ProviderSetup): void {
  answeringSuite(name, setup);
  failingSuite(name, setup);
}

type AskFor = (fields?: Partial<PostQuery>) => PostQuery;

function queryOf(post: PostReference): AskFor {
  return (fields = {}) => ({ kind: 'post', post, thread: true, replies: 'top', ...fields });
}

/** Runs the cases for every provider of posts, with or without an upstream. */
export function answeringSuite(name: string, setup: ProviderSetup): void {
  const query = queryOf(setup.post);
  const queries = [true, false].flatMap((thread) =>
    (['top', 'recent', 'off'] as const).map((replies) => query({ thread, replies })),
  );

  describe(`${name}, answering`, () => {
    it.each(queries)('returns valid posts for thread $thread, replies $replies', async (each) => {
      await withProvider(setup.create, { handler: setup.healthy }, async ({ ask }) => {
        const found = await ask(each);

        expectSound(found);
        expect(found.post.id).toBe(setup.post.id);
        expect(found.missing).toEqual([...new Set(found.missing)]);
        if (!each.thread) expect([...found.ancestors, ...found.continuation]).toEqual([]);
        if (each.replies === 'off') expect(found.replies).toEqual([]);
      });
    });

    it('covers only its own platforms', async () => {
      await withProvider(setup.create, { handler: setup.healthy }, async ({ provider }) => {
        const elsewhere = setup.elsewhere ?? { platform: 'sample', handle: 'ada.example', id: '1' };

        expect(provider.platforms).toContain(setup.post.platform);
        expect(provider.covers(query())).toBe(true);
        expect(provider.covers(query({ post: elsewhere }))).toBe(false);
      });
    });

    it('reports a missing post', async () => {
      await withProvider(setup.create, { handler: setup.absent }, async ({ ask, upstream }) => {
        const failure = await failureOf(ask(query({ post: setup.absentPost ?? setup.post })));

        expect(['missing', 'ambiguous']).toContain(failure.kind);
        expectTellable(failure, upstream);
      });
    });
  });
}

function failingSuite(name: string, setup: ProviderSetup): void {
  const query = queryOf(setup.post);
  const { create, healthy } = setup;
  const single = query({ thread: false, replies: 'off' });
  failingCases(name, { create, healthy, queries: [query()], single: [single] });
}

/** Queries to a failing upstream. */
export interface FailingSetup {
  readonly create: ProviderSetup['create'];
  readonly healthy: FakeHandler;
  readonly queries: readonly Query[];
  /** Queries for which a healthy upstream gets one request. */
  readonly single: readonly Query[];
}

/** Runs the cases of a failing upstream for every query. */
export function failingCases(name: string, setup: FailingSetup): void {
  describe.each(setup.queries)(`${name}, failing at $kind`, (query) => {
    it.each(failures(setup.healthy))('reports %s as %s', async (_title, kind, handler) => {
      await withProvider(setup.create, { handler }, async ({ provider, upstream }) => {
        const failure = await failureOf(askProvider(provider, query));

        expect(failure.kind).toBe(kind);
        expectTellable(failure, upstream);
      });
    });

    it('abandons an upstream that hangs, at the deadline of an attempt', async () => {
      const options = { handler: hang, attemptTimeoutMs: 100 };
      await withProvider(setup.create, options, async ({ provider, upstream }) => {
        const failure = await failureOf(askProvider(provider, query));

        expect(failure.kind).toBe('unavailable');
        expectTellable(failure, upstream);
      });
    });

    it('reports the wait that a throttling upstream requests', async () => {
      const handler: FakeHandler = (_, response) =>
        answerHtml(response, { status: 429, headers: { 'retry-after': '17' } });
      await withProvider(setup.create, { handler }, async ({ provider, upstream }) => {
        const failure = await failureOf(askProvider(provider, query));

        expect(failure).toMatchObject({ kind: 'throttled', retryAfterSeconds: 17 });
        expectTellable(failure, upstream);
      });
    });

    it('stops when all callers have disconnected', async () => {
      const controller = new AbortController();
      const handler: FakeHandler = () => controller.abort();
      await withProvider(setup.create, { handler }, async ({ provider }) => {
        const { signal } = controller;
        const failure = await failureOf(askProvider(provider, query, { signal }));

        expect(failure.kind).toBe('unavailable');
      });
    });
  });

  describe.each(setup.single)(`${name}, failing at $kind`, (query) => {
    it.each([
      ['once more after a reset', 2, (request) => resetConnection(request)],
      ['not again after a body that broke off', 1, (_, response) => breakOff(response)],
    ] satisfies readonly (readonly [string, number, FakeHandler])[])(
      'retries %s',
      async (_title, requests, handler) => {
        await withProvider(setup.create, { handler }, async ({ provider, upstream }) => {
          await failureOf(askProvider(provider, query));

          expect(upstream.requests).toHaveLength(requests);
        });
      },
    );

    it('does not follow a redirect to another host', async () => {
      const handler: FakeHandler = (_, response) =>
        answerRedirect(response, 'http://169.254.169.254/latest/meta-data/');
      await withProvider(setup.create, { handler }, async ({ provider, upstream }) => {
        const failure = await failureOf(askProvider(provider, query));

        expect(failure.kind).toBe('malformed');
        expectTellable(failure, upstream);
        expect(upstream.requests).toHaveLength(1);
      });
    });
  });
}

/** Failures of an upstream, with the expected kind of error. */
function failures(healthy: FakeHandler): readonly (readonly [string, string, FakeHandler])[] {
  return [
    ['a reset before a byte', 'unavailable', (request) => resetConnection(request)],
    ['a body that breaks off', 'unavailable', (_, response) => breakOff(response)],
    ['an HTML page', 'malformed', (_, response) => answerHtml(response)],
    ['JSON that is not called so', 'malformed', asHtml(healthy)],
    ['truncated JSON', 'malformed', (_, response) => answerTruncatedJson(response)],
    ['a body that is too large', 'malformed', (_, response) => answerBytes(response, maxBytes + 1)],
    ['status 500', 'unavailable', (_, response) => answerHtml(response, { status: 500 })],
    ['a JSON list of nothing known', 'malformed', (_, response) => answerJson(response, [0])],
    ['JSON null', 'malformed', (_, response) => answerJson(response, null)],
  ];
}
