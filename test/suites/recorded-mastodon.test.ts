import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { feedFormats } from '../../src/model/results.ts';
import type { ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { checkIfFeed } from '../support/feeds.ts';
import {
  answerFixture,
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
} from '../support/fixtures.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import { accountRow, homeHost, type Row, statusRow } from '../support/mastodon-payloads.ts';
import { createFakedMastodon } from '../support/mastodon-rig.ts';
import { serveHosts } from '../support/public-http.ts';
import { tokenTypes } from '../support/render-markdown.ts';
import { expectBounded } from '../support/text-bound.ts';
import { expectSoundFound, type ListQuery } from './list-suite.ts';
import {
  askProvider,
  expectSound,
  expectTellable,
  failureOf,
  withProvider,
} from './provider-suite.ts';

const handle = `wren@${homeHost}`;
const account = { platform: 'mastodon', handle } as const;
const start = { cursor: null, count: 20 } as const;
const anyTime = { sinceSeconds: null, untilSeconds: null } as const;

/** Recordings of posts, with the number of posts of each read. */
const posts: Readonly<Record<string, number>> = {
  'mastodon/context/ancestors-only.json': 2,
  'mastodon/context/many-replies.json': 60,
  'mastodon/poll/closed.json': 1,
  'mastodon/status/link-card-mention-hashtag.json': 1,
};

const timeline: ListQuery = {
  kind: 'timeline',
  account,
  withReplies: true,
  withReposts: true,
  untilSeconds: null,
  ...start,
};
const search: ListQuery = {
  kind: 'search',
  platform: 'mastodon',
  text: '#rstats',
  feed: 'latest',
  ...anyTime,
  ...start,
};

/** Recordings of lists and accounts, with the query, the path over HTTP, and the number of rows. */
const lists: Readonly<Record<string, readonly [ListQuery, string, number]>> = {
  'mastodon/account/by-id.json': [
    { kind: 'profile', account },
    `/${handle}?include_posts=false`,
    1,
  ],
  'mastodon/account-statuses/page-1.json': [timeline, `/${handle}?with_replies=true`, 20],
  'mastodon/account-statuses/page-2.json': [timeline, `/${handle}?with_reposts=true`, 20],
  'mastodon/relations/followers.json': [
    { kind: 'followers', account, ...start },
    `/${handle}/followers?limit=3`,
    3,
  ],
  'mastodon/search/accounts.json': [
    { kind: 'searchUsers', platform: 'mastodon', text: 'x', ...start },
    '/search?platform=mastodon&feed=users&q=x',
    3,
  ],
  'mastodon/timeline/tag.json': [search, '/search?platform=mastodon&q=%23rstats', 5],
  'mastodon/timeline/tag-with-quote.json': [search, '/search?platform=mastodon&q=%23rstats', 40],
};

/** Recordings of failures, with the kind of error for a provider, and the status over HTTP. */
const failures: Readonly<Record<string, readonly [ProviderErrorKind, number]>> = {
  'mastodon/errors/not-found.json': ['missing', 404],
  'mastodon/errors/rate-limited.json': ['throttled', 503],
  'mastodon/errors/requires-user.json': ['unavailable', 503],
  'mastodon/errors/suspended-410.json': ['missing', 404],
};

const bodyOf = (name: string) => readFixture(name).response.body;

function statusFor(name: string): Row {
  if (name.includes('/status/')) return bodyOf(name) as Row;
  const poll = name.includes('/poll/') ? bodyOf(name) : null;
  const id = name.includes('many-replies') ? '109294719267373593' : '114027213608365869';
  const [first] = name.includes('/context/') ? ancestorsOf(name) : [];
  return statusRow(id, accountRow('wren'), { poll, in_reply_to_id: first?.id ?? null });
}

/** Returns the ancestors of a recorded context, which has two lists of posts. */
function ancestorsOf(name: string): readonly Row[] {
  return (bodyOf(name) as { readonly ancestors: readonly Row[] }).ancestors;
}

/** Answers to other kinds of paths; the first match counts. */
const beside: readonly (readonly [RegExp, (name: string) => unknown])[] = [
  [/\/context$/, contextOf],
  [/^\/api\/v1\/statuses\//, statusFor],
  [/^\/api\/v2\/search/, (name) => ({ accounts: bodyOf(name) })],
  [/\/lookup$/, (name) => (name.includes('/account/') ? bodyOf(name) : accountRow('wren'))],
];

/** Answers with a recording, and with made-up rows for other requests. */
function serve(name: string): FakeHandler {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'https://recorded.example');
    const [, toBody] = beside.find(([path]) => path.test(pathname)) ?? [];
    if (name.includes('/errors/') || toBody === undefined) {
      answerFixture(response, readFixture(name));
    } else {
      answerJson(response, toBody(name));
    }
  };
}

function contextOf(name: string): unknown {
  return name.includes('/context/') ? bodyOf(name) : { ancestors: [], descendants: [] };
}

const create = createFakedMastodon;

const recorded = (name: string) => serveHosts({ [homeHost]: serve(name) });

const postQuery = {
  kind: 'post',
  post: { platform: 'mastodon', handle, id: '1' },
  thread: true,
  replies: 'top',
} as const;

async function readAll(name: string, path: string, formats: readonly string[]) {
  const { app } = await buildMastodonApp({ [homeHost]: serve(name) });
  const replies: LightMyRequestResponse[] = [];
  for (const format of formats) {
    for (const full of ['', '&full=true&userinfo=all']) {
      const reply = await app.request(
        `${path}${path.includes('?') ? '&' : '?'}format=${format}${full}`,
      );
      expect(reply.body).not.toMatch(/\bundefined\b|\[object |\bNaN\b|\bInfinity\b/);
      checkIfFeed(reply);
      replies.push(reply);
    }
    const full = `${path}${path.includes('?') ? '&' : '?'}format=${format}&full=true`;
    if (replies.at(-1)?.statusCode === 200) await expectBounded(app, full);
  }
  return replies;
}

const statusesOf = (replies: readonly LightMyRequestResponse[]) => [
  ...new Set(replies.map(({ statusCode }) => statusCode)),
];

describe.skipIf(!fixturesPresent)(`the recordings of Mastodon in ${fixturesFolder}`, () => {
  it('are all listed', () => {
    const known = [posts, lists, failures].flatMap(Object.keys);

    expect(known.toSorted()).toEqual([...listFixtures('mastodon')].toSorted());
  });

  it.each(Object.entries(posts))('have posts: %s', async (name, count) => {
    const found = await withProvider(create, { handler: recorded(name) }, ({ ask }) =>
      ask(postQuery),
    );

    expectSound(found);
    const { ancestors, continuation, replies, missing } = found;
    expect(missing).toEqual([]);
    expect([...ancestors, ...continuation, ...replies].length + 1).toBe(count);
  });

  it.each(Object.entries(lists))('have rows: %s', async (name, [query, , rows]) => {
    const handler = recorded(name);
    const found = await withProvider(create, { handler }, ({ provider }) =>
      askProvider(provider, query),
    );

    expectSoundFound(found as Parameters<typeof expectSoundFound>[0]);
    expect('items' in found ? found.items.length : 1).toBe(rows);
  });

  it.each(Object.entries(failures))('fail: %s', async (name, [kind]) => {
    await withProvider(create, { handler: recorded(name) }, async ({ provider, upstream }) => {
      for (const query of [postQuery, { kind: 'profile', account } as const]) {
        const failure = await failureOf(askProvider(provider, query));

        expect([failure.kind, failure.isProviderWide]).toEqual([kind, kind === 'missing']);
        expectTellable(failure, upstream);
      }
    });
  });

  it.each(Object.keys(posts))('are served in every format: %s', async (name) => {
    const replies = await readAll(name, `/${handle}/status/1?thread=conversation`, [
      'markdown',
      'json',
      'obsidian',
      ...feedFormats,
    ]);
    const embed = await readAll(
      name,
      `/oembed?url=${encodeURIComponent(`https://${homeHost}/@wren/1`)}`,
      ['json'],
    );

    expect(statusesOf([...replies, ...embed])).toEqual([200]);
  });

  it.each(Object.entries(lists))('are served in every format: %s', async (name, [query, path]) => {
    const hasFeeds = query.kind === 'timeline' || query.kind === 'search';
    const formats = ['markdown', 'json', ...(hasFeeds ? feedFormats : [])];
    const replies = await readAll(name, path, formats);

    expect(statusesOf(replies)).toEqual([200]);
    for (const { headers } of replies) expect(headers['x-source']).toBe('mastodon');
  });

  it.each(Object.entries(failures))('fail over HTTP: %s', async (name, [, status]) => {
    const replies = await readAll(name, `/${handle}/status/1`, ['markdown', 'json']);

    expect(statusesOf(replies)).toEqual([status]);
  });

  it('have no HTML in text for readers', async () => {
    for (const [name, path] of [
      ...Object.keys(posts).map(
        (each) => [each, `/${handle}/status/1?thread=conversation`] as const,
      ),
      ...Object.entries(lists).map(([each, [, listPath]]) => [each, listPath] as const),
    ]) {
      const [reply] = await readAll(name, path, ['markdown']);

      const types = tokenTypes(reply?.body ?? '');
      expect(types.filter((type) => type.startsWith('html_'))).toEqual([]);
    }
  });
});
