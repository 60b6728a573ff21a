import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import type { Page, SearchQuery } from '../../src/model/queries.ts';
import { createBluesky } from '../../src/providers/bluesky/index.ts';
import { bskyImages, bskyPost, bskyPrivateActor, bskyVideo } from '../support/bluesky-payloads.ts';
import { createFakeBluesky } from '../support/fake-bluesky.ts';
import { answerHtml, answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  askProvider,
  expectTellable,
  failureOf,
  type ProviderSetup,
  withProvider,
} from './provider-suite.ts';

const firstMs = Date.UTC(2026, 2, 4, 9, 12);

function search(fields: Partial<SearchQuery> = {}): SearchQuery {
  const anyTime = { sinceSeconds: null, untilSeconds: null };
  const page = { cursor: null, count: 20 };
  return {
    kind: 'search',
    platform: 'bluesky',
    text: 'heron',
    feed: 'latest',
    ...anyTime,
    ...page,
    ...fields,
  };
}

const barred: FakeHandler = (_, response) => answerHtml(response, { status: 403 });
const idsOf = (rows: readonly { readonly id: string | null }[]) => rows.map(({ id }) => id);

async function read(handler: FakeHandler, query: SearchQuery) {
  return withProvider(createBluesky, { handler }, async ({ provider, upstream: asked }) => {
    const found = (await askProvider(provider, query)) as Page<Status>;
    const queries = asked.requests.map(({ url }) =>
      Object.fromEntries(new URL(url, 'http://bsky.example').searchParams),
    );
    return { found, queries };
  });
}

/** Creates a provider whose searches go to `handler` first. */
async function searchingAt(handler: FakeHandler) {
  const host = await upstream(handler);
  const create: ProviderSetup['create'] = (options) =>
    createBluesky({ ...options, searchUrl: host.url });
  return { host, create };
}

async function fail(create: ProviderSetup['create'], handler: FakeHandler, query = search()) {
  return withProvider(create, { handler, clock: createManualClock() }, async (rig) => {
    const failure = await failureOf(askProvider(rig.provider, query));
    expectTellable(failure, rig.upstream);
    return { failure, requests: rig.upstream.requests.length };
  });
}

describe('a search of Bluesky', () => {
  it('sends the text, the time range and the order as parameters', async () => {
    const fake = createFakeBluesky();
    const bounds = { sinceSeconds: 1_772_000_000, untilSeconds: 1_773_000_000 };

    const { queries } = await read(fake.handler, search({ text: 'from:a "b c"', ...bounds }));
    const top = await read(fake.handler, search({ feed: 'top', count: 500 }));

    expect(queries).toEqual([
      {
        q: 'from:a "b c"',
        sort: 'latest',
        limit: '20',
        since: '2026-02-25T06:13:20.000Z',
        until: '2026-03-08T20:00:00.000Z',
      },
    ]);
    expect(top.queries).toEqual([{ q: 'heron', sort: 'top', limit: '100' }]);
  });

  it('continues by time, without a cursor of Bluesky and without a gap', async () => {
    const fake = createFakeBluesky();
    // Three posts at each time, so that pages end between posts of the same time.
    const posts = Array.from({ length: 60 }, (_, index) =>
      fake.addPost('mira.test', {
        rkey: `3k${index}`,
        text: 'A heron',
        ms: firstMs - Math.floor(index / 3) * 60_000,
      }),
    );
    fake.habits.maxRows = 7;
    const given: (string | null)[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const { found, queries } = await read(fake.handler, search({ cursor }));
      expect(queries[0]).not.toHaveProperty('cursor');
      given.push(...idsOf(found.items));
      cursor = found.cursor;
      pages += 1;
    } while (cursor !== null && pages < 50);

    expect(new Set(given)).toEqual(new Set(posts.map(({ rkey }) => rkey)));
    expect(pages).toBeLessThan(20);
  });

  it('ends after a page that does not continue', async () => {
    const posts = [bskyPost({ rkey: '3k', ms: firstMs })];
    const handler: FakeHandler = (_, response) => answerJson(response, { posts, cursor: '1' });

    const one = await read(handler, search());
    const two = await read(handler, search({ cursor: one.found.cursor }));
    const three = await read(handler, search({ cursor: two.found.cursor }));

    expect(one.found.cursor).toBe(String(firstMs + 1));
    expect(two.found.cursor).toBe(String(firstMs));
    expect(three.found.cursor).toBeNull();
  });

  it('has one page of top posts, with a warning if there are more', async () => {
    const fake = createFakeBluesky();
    for (let likes = 0; likes < 30; likes += 1) {
      fake.addPost('mira.test', { text: 'A heron', likes, rkey: `3k${likes}` });
    }

    const { found } = await read(fake.handler, search({ feed: 'top' }));
    const all = await read(fake.handler, search({ feed: 'top', count: 100 }));

    expect(idsOf(found.items).slice(0, 2)).toEqual(['3k29', '3k28']);
    expect(found).toMatchObject({
      cursor: null,
      warnings: ['Bluesky sends only one page of top posts without a login.'],
    });
    expect(all.found.warnings).toEqual([]);
  });

  it.each(['photos', 'videos'] as const)(
    'has the latest posts with %s, with a warning',
    async (feed) => {
      const fake = createFakeBluesky();
      fake.addPost('mira.test', { rkey: 'plain', text: 'A heron' });
      fake.addPost('mira.test', { rkey: 'photos', text: 'A heron', embed: bskyImages('heron') });
      fake.addPost('mira.test', { rkey: 'videos', text: 'A heron', embed: bskyVideo('heron') });

      const { found, queries } = await read(fake.handler, search({ feed }));

      expect(idsOf(found.items)).toEqual([feed]);
      expect(found).toMatchObject({ rows: 3, cursor: null });
      expect(found.warnings).toEqual([
        `Bluesky has no search for ${feed}; these are the latest posts that have ${feed}.`,
      ]);
      expect(queries).toMatchObject([{ sort: 'latest', limit: '100' }]);
    },
  );

  it('omits posts that authors hide from the public, and posts that cannot be read', async () => {
    const author = bskyPrivateActor('shy.test');
    const posts = [1, 2].map((n) => bskyPost({ handle: 'shy.test', rkey: `3k${n}` }, { author }));
    const handler: FakeHandler = (_, response) =>
      answerJson(response, { posts: [...posts, {}, bskyPost({ rkey: '3k' })] });

    const { found } = await read(handler, search());

    expect(idsOf(found.items)).toEqual(['3k']);
    expect(found.warnings).toEqual([
      '2 posts are missing, because their authors ask not to be shown to people who are not signed in.',
      '1 post is missing, because the source sent unreadable data for it.',
    ]);
  });
});

describe('a search that Bluesky refuses', () => {
  it('is sent to the other host', async () => {
    const fake = createFakeBluesky();
    fake.addPost('mira.test', { rkey: '3k', text: 'A heron' });
    const { host, create } = await searchingAt(barred);

    await withProvider(create, { handler: fake.handler }, async ({ provider, upstream: other }) => {
      const found = (await askProvider(provider, search())) as Page<Status>;

      expect(idsOf(found.items)).toEqual(['3k']);
      expect([host.requests.length, other.requests.length]).toEqual([1, 1]);
    });
  });

  it('is sent to the first host only if that answers', async () => {
    const { host, create } = await searchingAt(createFakeBluesky().handler);

    await withProvider(create, { handler: barred }, async ({ provider, upstream: other }) => {
      await askProvider(provider, search());
      expect([host.requests.length, other.requests.length]).toEqual([1, 0]);
    });
  });

  it('is reported as refused if both hosts refuse it', async () => {
    const { create } = await searchingAt((_, response) => answerHtml(response, { status: 502 }));

    const { failure, requests } = await fail(create, barred);

    expect(requests).toBe(1);
    expect(failure).toMatchObject({
      kind: 'unavailable',
      message: 'Bluesky does not allow searches from this server at the moment.',
    });
  });

  it('is not sent to the other host when the rate limit is reached', async () => {
    const { create } = await searchingAt((_, response) =>
      answerJson(response, {}, { status: 429, headers: { 'retry-after': '9' } }),
    );

    const { failure, requests } = await fail(create, barred);

    expect([failure.kind, failure.retryAfterSeconds, requests]).toEqual(['throttled', 9, 0]);
  });

  it.each([
    ['Error: could not parse query', 'rejected'],
    ['Error: until must be a valid date', 'malformed'],
  ])('with the message “%s” is %s', async (message, kind) => {
    const handler: FakeHandler = (_, response) =>
      answerJson(response, { error: 'InvalidRequest', message }, { status: 400 });

    expect((await fail(createBluesky, handler)).failure.kind).toBe(kind);
  });
});

describe('a failure of Bluesky', () => {
  const query = { kind: 'profile', account: { platform: 'bluesky', handle: 'mira.test' } } as const;
  const say = (status: number, error: string, message = ''): FakeHandler => {
    return (_, response) => answerJson(response, { error, message }, { status });
  };

  async function kindOf(handler: FakeHandler) {
    return withProvider(createBluesky, { handler, clock: createManualClock() }, async (rig) => {
      const failure = await failureOf(askProvider(rig.provider, query));
      expectTellable(failure, rig.upstream);
      return failure;
    });
  }

  it.each([
    [400, 'InvalidRequest', 'Profile not found', 'missing'],
    [400, 'InvalidRequest', 'Actor not found: mira.test', 'missing'],
    [400, 'InvalidRequest', 'Unable to resolve handle', 'missing'],
    [400, 'NotFound', 'Post not found: at://…', 'missing'],
    [404, 'NotFound', '', 'missing'],
    [400, 'AccountTakedown', 'Account has been suspended', 'missing'],
    [400, 'AccountDeactivated', 'Account is deactivated', 'missing'],
    [400, 'BlockedByActor', '', 'missing'],
    [400, 'InvalidRequest', 'Error: actor must be a valid did or a handle', 'malformed'],
    [400, 'UpstreamFailure', 'Profile not found', 'unavailable'],
    [401, 'AuthMissing', '', 'malformed'],
    [403, 'Forbidden', '', 'throttled'],
    [429, 'RateLimitExceeded', '', 'throttled'],
    [500, 'InternalServerError', 'Profile not found', 'unavailable'],
    [502, 'UpstreamFailure', '', 'unavailable'],
    [504, 'UpstreamTimeout', 'Actor not found', 'unavailable'],
  ])('with status %i, %s and “%s” is %s', async (status, error, message, kind) => {
    expect((await kindOf(say(status, error, message))).kind).toBe(kind);
  });

  it('is not an absence if an HTML page reports it', async () => {
    const handler: FakeHandler = (_, response) => answerHtml(response, { status: 404 });

    expect((await kindOf(handler)).kind).toBe('malformed');
  });

  it.each([
    [{ 'ratelimit-reset': String(Date.UTC(2026, 10, 21) / 1000 + 42) }, 42],
    [{ 'ratelimit-reset': '12', 'retry-after': '7' }, 7],
    [{ 'ratelimit-reset': '12' }, undefined],
    [{ 'ratelimit-reset': 'soon' }, undefined],
    [{}, undefined],
  ])('has the wait from the headers: %j', async (headers, seconds) => {
    const handler: FakeHandler = (_, response) =>
      answerJson(response, {}, { status: 429, headers });

    expect((await kindOf(handler)).retryAfterSeconds).toBe(seconds);
  });
});
