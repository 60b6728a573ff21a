import { describe, expect, it } from 'vitest';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import type { PostFound, PostQuery, ProviderErrorKind } from '../../src/providers/provider.ts';
import { createSyndication } from '../../src/providers/syndication/index.ts';
import type { FakeHandler } from '../support/fake-upstream.ts';
import {
  answerFixture,
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
  serveFixtures,
} from '../support/fixtures.ts';
import { expectSound, failureOf, type ProviderSetup, withProvider } from './provider-suite.ts';
import { fxTwitterFolders, idOf } from './recordings.ts';

/** What each recording that is no post leads to. Every other one is a post. */
const failures: Readonly<Record<string, ProviderErrorKind>> = {
  'fxtwitter/conversation/991503-focal-tombstone.json': 'missing',
  'fxtwitter/errors/301-trailing-slash.json': 'malformed',
  'fxtwitter/errors/401-missing-user-agent.json': 'malformed',
  'fxtwitter/errors/404-unknown-route.json': 'malformed',
  'fxtwitter/errors/500-html-crash.json': 'unavailable',
  'fxtwitter/errors/conversation-404.json': 'ambiguous',
  'fxtwitter/errors/status-400-bad-id.json': 'ambiguous',
  'fxtwitter/errors/status-401-protected.json': 'missing',
  'fxtwitter/errors/status-404-deleted-tombstone.json': 'missing',
  'fxtwitter/errors/status-404.json': 'ambiguous',
  'fxtwitter/errors/upstream-down/status-404.json': 'ambiguous',
  'fxtwitter/status/991500-focal-suspended-tombstone.json': 'missing',
  'fxtwitter/v1/status-401-protected.json': 'missing',
  'fxtwitter/v1/status-bad-id-html.json': 'malformed',
  'fxtwitter/v1/status-not-found.json': 'ambiguous',
  'syndication/empty-object.json': 'unavailable',
  'syndication/error-400.json': 'ambiguous',
  'syndication/error-404-html.json': 'ambiguous',
  'syndication/error-429-text.json': 'throttled',
  'syndication/tombstone-bare.json': 'ambiguous',
  'syndication/tombstone-deleted.json': 'missing',
};

/** Recordings of reads other than a post. */
const otherReads = /\/(?:profile-|oembed-|search-|statuses-)/;

const wanted = {
  status: { thread: false, replies: 'off' },
  thread: { thread: true, replies: 'off' },
  conversation: { thread: false, replies: 'top' },
} as const;

const names = [
  'fxtwitter/status',
  'fxtwitter/thread',
  'fxtwitter/conversation',
  'fxtwitter/v1',
  'fxtwitter/errors',
  'syndication',
]
  .flatMap(listFixtures)
  .filter((name) => !otherReads.test(name));
const posts = names.filter((name) => failures[name] === undefined);

function wantedBy(name: string) {
  if (name.includes('conversation')) return wanted.conversation;
  return name.startsWith('fxtwitter/thread/') ? wanted.thread : wanted.status;
}

function createFor(name: string): ProviderSetup['create'] {
  return name.startsWith('fxtwitter/') ? createFxTwitter : createSyndication;
}

async function askRecorded<T>(name: string, use: (asked: Promise<PostFound>) => Promise<T>) {
  const handler: FakeHandler = (_, response) => answerFixture(response, readFixture(name));
  const query: PostQuery = {
    kind: 'post',
    post: { platform: 'x', handle: null, id: idOf(name) },
    ...wantedBy(name),
  };
  return withProvider(createFor(name), { handler }, ({ ask }) => use(ask(query)));
}

async function askFxTwitter(id: string): Promise<PostFound> {
  const handler = serveFixtures(...fxTwitterFolders);
  const post = { platform: 'x', handle: null, id } as const;
  const found = await withProvider(createFxTwitter, { handler }, ({ ask }) =>
    ask({ kind: 'post', post, thread: true, replies: 'top' }),
  );
  expectSound(found);
  return found;
}

describe.skipIf(!fixturesPresent)(`the recordings in ${fixturesFolder}`, () => {
  it('are all known where they are no posts', () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(failures)));
  });

  it.each(posts)('give a post: %s', async (name) => {
    await askRecorded(name, async (asked) => {
      const found = await asked;

      expectSound(found);
      expect(found.post.type).toBe('status');
    });
  });

  it.each(Object.entries(failures))('fail: %s is %s', async (name, kind) => {
    await askRecorded(name, async (asked) => {
      expect(await failureOf(asked)).toMatchObject({ kind });
    });
  });

  it('join a thread with its conversation', async () => {
    const found = await askFxTwitter('1649191520250245121');

    expect(found).toMatchObject({ ancestors: [], missing: [], warnings: [] });
    expect(found.continuation).toHaveLength(3);
    expect(found.replies).toHaveLength(33);
    expect(found.replies[0]).toMatchObject({ author: { screen_name: 'MattEason' }, likes: 165 });
  });

  it('leave posts that X recommends out of the replies', async () => {
    const found = await askRecorded(
      'fxtwitter/conversation/1671753569412820992-unrelated-posts-in-replies.json',
      (asked) => asked,
    );

    expect(found.replies).toHaveLength(10);
    expect(found.replies.map(({ id }) => id)).not.toContain('1667220696295178240');
  });

  it('put the author’s answers after the replies that they answer', async () => {
    const found = await askRecorded(
      'fxtwitter/conversation/1682072224013099008-author-answers-replies.json',
      (asked) => asked,
    );

    const authors = found.replies.map((each) => each.author?.screen_name);
    expect(authors.filter((_, index) => index % 2 === 1)).toEqual(Array(5).fill('FortniteStatus'));
  });

  it('link every tag and URL of a long post', async () => {
    const { post } = await askRecorded(
      'fxtwitter/status/1682072224013099008-note-post.json',
      (asked) => asked,
    );

    if (post.type !== 'status') throw new Error('The recording is a post.');
    const points = [...post.text];
    expect(post.facets.map(({ start, end }) => points.slice(start, end).join(''))).toEqual([
      '#Fortnite',
      '@FortniteStatus',
      'http://fn.gg/support',
      'http://fn.gg/accounts',
      'https://trello.com/b/Bs7hgkma/fortnite-community-issues',
      'https://status.epicgames.com',
    ]);
  });

  it('link the mentions that replies begin with', async () => {
    const { replies } = await askRecorded(
      'fxtwitter/conversation/1682072224013099008-author-answers-replies.json',
      (asked) => asked,
    );

    const starting = replies.flatMap((post) =>
      post.type === 'status' && post.text.startsWith('@') ? [post] : [],
    );
    expect(starting.length).toBeGreaterThan(0);
    for (const { facets } of starting)
      expect(facets[0]).toMatchObject({ type: 'mention', start: 0 });
  });

  it('mark the bold words of an article after emoji', async () => {
    const { post } = await askRecorded(
      'fxtwitter/status/2075503860689281453-article.json',
      (asked) => asked,
    );

    if (post.type !== 'status') throw new Error('The recording is a post.');
    const blocks = post.article?.blocks ?? [];
    const bold = blocks.flatMap((block) =>
      'styles' in block
        ? block.styles.map(({ start, end }) => [...block.text].slice(start, end).join(''))
        : [],
    );
    expect(bold).toEqual(expect.arrayContaining(['Messaging', 'Webhooks', 'agentskills.io']));
    expect(blocks.filter(({ type }) => type === 'markdown')).toHaveLength(15);
    expect(blocks.filter(({ type }) => type === 'divider')).toHaveLength(8);
  });
});
