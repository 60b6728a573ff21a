import { describe, expect, it, onTestFinished } from 'vitest';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { type Post, post as postSchema } from '../../src/model/post.ts';
import type { Page, PostQuery, SearchQuery, TimelineQuery } from '../../src/model/queries.ts';
import { openArchive } from '../../src/providers/archive/index.ts';
import { hang } from '../support/fake-upstream.ts';
import { openImportedArchive } from '../support/imported-archive.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openReaderHere } from '../support/reader-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../support/stub-provider.ts';
import { answeringSuite, failureOf } from './provider-suite.ts';

const baseUrl = 'https://perch.example';
const heron = { platform: 'sample', handle: 'ada.example', id: '1900000000000000001' } as const;

answeringSuite('archive', {
  create: () =>
    openArchive({ path: ':memory:', sample: true, baseUrl, clock: createManualClock() }),
  post: heron,
  healthy: hang,
  absent: hang,
  absentPost: { ...heron, id: '1' },
  elsewhere: { platform: 'x', handle: 'jack', id: '20' },
});

function open(options: { path?: string; sample?: boolean } = {}) {
  const archive = openArchive({
    openReader: openReaderHere,
    path: ':memory:',
    sample: true,
    baseUrl,
    clock: createManualClock(),
    ...options,
  });
  onTestFinished(() => archive.close?.());
  return archive;
}

const { signal } = new AbortController();
const postQuery = (fields: Partial<PostQuery> = {}): PostQuery => ({
  kind: 'post',
  post: heron,
  thread: true,
  replies: 'top',
  ...fields,
});
const searchQuery = (text: string, fields: Partial<SearchQuery> = {}): SearchQuery => ({
  kind: 'search',
  platform: 'archive',
  text,
  feed: 'latest',
  sinceSeconds: null,
  untilSeconds: null,
  cursor: null,
  count: 10,
  ...fields,
});

async function search(archive: ReturnType<typeof open>, query: SearchQuery): Promise<Page<Post>> {
  if (archive.fetch.search === undefined) throw new Error('The archive does not search.');
  return archive.fetch.search(query, { signal });
}

describe('the sample in the archive', () => {
  it('has its URLs under the base URL', async () => {
    const found = await open().fetch.post?.(postQuery(), { signal });

    expect(found?.post.url).toBe(`${baseUrl}/ada.example/status/${heron.id}`);
    expect(JSON.stringify(found)).not.toContain('"perch:');
  });

  it('continues a thread over a deleted post, from its first post on', async () => {
    const post = { platform: 'sample', handle: 'faro.example', id: '1738698866282987522' } as const;
    const store = openArchiveStore(':memory:', baseUrl);
    onTestFinished(() => store.close());
    const archive = open();
    const last = await archive.fetch.post?.(
      postQuery({ post: { ...post, id: '1738742806268192954' } }),
      { signal },
    );
    const first = last?.ancestors[0]?.id ?? '';

    const found = await archive.fetch.post?.(postQuery({ post: { ...post, id: first } }), {
      signal,
    });

    expect(found?.continuation.map(({ type }) => type)).toEqual(['status', 'tombstone', 'status']);
  });

  it('is neither covered nor searched if it is disabled, while other stored posts are', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    const withSample = open({ path });

    const without = open({ path, sample: false });

    expect(without.covers(postQuery())).toBe(false);
    expect((await search(without, searchQuery('heron'))).items).toEqual([]);
    expect((await search(withSample, searchQuery('heron'))).items.length).toBeGreaterThan(2);
  });

  it('is written once to a file that two processes open', () => {
    const path = `${temporaryFolder()}/archive.db`;

    const archives = [open({ path }), open({ path })];

    for (const archive of archives) expect(archive.covers(postQuery())).toBe(true);
  });
});

describe('the accounts of the sample', () => {
  const ada = { platform: 'sample', handle: 'ada.example' } as const;
  const page = { account: ada, cursor: null, count: 100 } as const;
  const timeline = (fields: Partial<TimelineQuery> = {}): TimelineQuery => ({
    kind: 'timeline',
    ...page,
    withReplies: false,
    withReposts: true,
    untilSeconds: null,
    ...fields,
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])(
    'have their posts with media: with replies %o, reposts %o',
    async (withReplies, withReposts) => {
      const { fetch: ask } = open();
      for (const handle of ['ada.example', 'zhong.example', 'harbour.example']) {
        const of = { account: { platform: 'sample', handle }, withReplies, withReposts } as const;
        const all = await ask.timeline?.(timeline(of), { signal });
        const found: Post[] = [];
        let cursor: string | null = null;
        do {
          const page: Page<Post> | undefined = await ask.timeline?.(
            timeline({ ...of, onlyMedia: true, count: 2, cursor }),
            { signal },
          );
          found.push(...(page?.items ?? []));
          cursor = page?.cursor ?? null;
        } while (cursor !== null);

        const hasMedia = (post: Post) => post.type === 'status' && post.media.all.length > 0;
        expect(found).toEqual(all?.items.filter(hasMedia));
        if (handle === 'ada.example') expect(found.length).toBeGreaterThan(2);
      }
    },
  );

  it('have profiles, timelines with reposts, followers and followed accounts', async () => {
    const { fetch: ask } = open();

    const profile = await ask.profile?.({ kind: 'profile', account: ada }, { signal });
    const posts = await ask.timeline?.(timeline(), { signal });
    const followers = await ask.followers?.({ kind: 'followers', ...page }, { signal });
    const following = await ask.following?.({ kind: 'following', ...page }, { signal });

    expect(profile?.account).toMatchObject({ name: 'Ada Fenwick', url: `${baseUrl}/ada.example` });
    expect(posts?.items.length).toBeGreaterThan(10);
    for (const post of posts?.items ?? []) expect(postSchema.parse(post)).toEqual(post);
    const reposted = posts?.items.flatMap((post) =>
      post.type === 'status' && post.reposted_by !== null ? [post] : [],
    );
    expect(reposted?.map(({ author }) => author.screen_name)).toEqual([
      'harbour.example',
      'noor.example',
    ]);
    expect(reposted?.[0]?.reposted_by?.screen_name).toBe('ada.example');
    expect(followers?.items.length).toBeGreaterThan(5);
    expect(following?.items.map((one) => one.screen_name)).toEqual([
      'bruna.example',
      'devika.example',
      'eleni.example',
      'faro.example',
      'harbour.example',
      'noor.example',
      'otto.example',
      'unfinished-maps.example',
    ]);
  });

  it('are all covered, and missing if they do not exist', async () => {
    const archive = open();
    const nobody = {
      ...timeline(),
      account: { platform: 'sample', handle: 'nobody.example' },
    } as const;

    const failure = await failureOf(
      archive.fetch.timeline?.(nobody, { signal }) ?? Promise.resolve(),
    );

    expect(archive.covers(nobody)).toBe(true);
    expect(failure.kind).toBe('missing');
    expect(open({ sample: false }).covers(timeline())).toBe(false);
  });
});

describe('the coverage of the archive', () => {
  it('includes its own search and that of the sample on this machine', () => {
    const { covers, isLocal, reads } = open();

    expect(isLocal).toBe(true);
    expect(covers(searchQuery('a'))).toBe(true);
    expect(covers(searchQuery('a', { platform: 'sample' }))).toBe(true);
    expect(open({ sample: false }).covers(searchQuery('a', { platform: 'sample' }))).toBe(false);
    expect(covers(searchQuery('a', { platform: 'x' }))).toBe(false);
    expect([...reads].sort()).toEqual(
      'followers following post profile replies search searchUsers thread timeline'.split(' '),
    );
  });

  it('includes the search of a platform as the last resort, once it has imported data', () => {
    const { covers } = openImportedArchive('bluesky');

    expect(covers(searchQuery('a', { platform: 'x' }))).toBe(false);
    expect(covers(searchQuery('a', { platform: 'bluesky' }))).toBe('last resort');
    expect(covers({ ...searchQuery('a', { platform: 'bluesky' }), kind: 'searchUsers' })).toBe(
      'last resort',
    );
  });
});

describe('an archived account', () => {
  function openWith(posts: readonly Post[]) {
    const path = `${temporaryFolder()}/archive.db`;
    const store = openArchiveStore(path, baseUrl);
    store.putAccount({ account: stubAccount('Wren'), stored: 1_790_000_000 });
    for (const post of posts) {
      if (post.type !== 'status') continue;
      store.putPost({
        platform: 'x',
        handle: 'wren',
        id: post.id,
        parentId: post.replying_to?.status ?? null,
        created: post.created_timestamp,
        stored: 1_790_000_000,
        post,
      });
    }
    store.close();
    return open({ path });
  }
  const x = (handle: string | null, id: string) =>
    postQuery({ post: { platform: 'x', handle, id } });

  it('is covered by handle and by id, and no other account is', () => {
    const archive = openWith([stubPost('20')]);

    expect([x('wren', '20'), x(null, '20'), x('wren', '21')].map(archive.covers)).toEqual([
      true,
      true,
      true,
    ]);
    expect([x('finch', '21'), x(null, '21')].map(archive.covers)).toEqual([false, false]);
  });

  it('has its profile, timeline and lists covered, and no other account has', () => {
    const archive = openWith([]);
    const covered = (handle: string) =>
      (['profile', 'followers', 'following', 'timeline'] as const).map((kind) =>
        archive.covers({
          kind,
          account: { platform: 'x', handle },
          cursor: null,
          count: 10,
          withReplies: true,
          withReposts: true,
          untilSeconds: null,
        }),
      );

    expect(covered('wren')).toEqual([true, true, true, true]);
    expect(covered('finch')).toEqual([false, false, false, false]);
  });

  it('has no posts if it is protected', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    const store = openArchiveStore(path, baseUrl);
    store.putAccount({ account: { ...stubAccount('Wren'), protected: true }, stored: 5 });
    const post = stubPost('20');
    const row = { platform: 'x', handle: 'wren', id: '20', parentId: null } as const;
    store.putPost({ ...row, created: post.created_timestamp, stored: 5, post });
    store.close();

    const failure = await failureOf(
      open({ path }).fetch.post?.(x('wren', '20'), { signal }) ?? Promise.resolve(),
    );

    expect(failure.kind).toBe('missing');
  });

  it('is not certain to lack a post, because an export may be incomplete', async () => {
    const failure = await failureOf(
      openWith([]).fetch.post?.(x('wren', '21'), { signal }) ?? Promise.resolve(),
    );

    expect(failure.kind).toBe('ambiguous');
  });

  it('is read as it was stored', async () => {
    const post = stubPost('20', { text: 'Naïve café 🐦' });

    const found = await openWith([post]).fetch.post?.(x('wren', '20'), { signal });

    expect(found?.post).toEqual(post);
    expect(found?.asOfMs).toBe(1_790_000_000_000);
  });
});

describe('search in the archive', () => {
  it('finds posts with all words and phrases, ignoring case and accents', async () => {
    const archive = open();

    const words = await search(archive, searchQuery('HERON gate'));
    const phrase = await search(archive, searchQuery('"six minutes before"'));
    const none = await search(archive, searchQuery('heron zeppelin'));

    expect(words.items.length).toBeGreaterThan(0);
    expect(phrase.items.map(({ id }) => id)).toContain(heron.id);
    expect(none.items).toEqual([]);
  });

  it('returns every hit once over its pages, newest first', async () => {
    const archive = open();
    const all = await search(archive, searchQuery('the', { count: 100 }));

    const found: Post[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<Post> = await search(archive, searchQuery('the', { count: 7, cursor }));
      found.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== null);

    expect(found.length).toBeGreaterThan(20);
    expect(found).toEqual(all.items.slice(0, found.length));
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  });
});
