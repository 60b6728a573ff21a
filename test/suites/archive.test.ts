import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Post } from '../../src/model/post.ts';
import { openArchive } from '../../src/providers/archive/index.ts';
import { openArchiveStore } from '../../src/providers/archive/store.ts';
import type { Page, PostQuery, SearchQuery } from '../../src/providers/provider.ts';
import { hang } from '../support/fake-upstream.ts';
import { createManualClock } from '../support/manual-clock.ts';
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
  text,
  feed: 'latest',
  sinceSeconds: null,
  untilSeconds: null,
  cursor: null,
  count: 10,
  ...fields,
});

async function search(archive: ReturnType<typeof open>, query: SearchQuery): Promise<Page<Post>> {
  if (archive.ask.search === undefined) throw new Error('The archive does not search.');
  return archive.ask.search(query, { signal });
}

describe('the sample in the archive', () => {
  it('has its addresses under the base URL', async () => {
    const found = await open().ask.post?.(postQuery(), { signal });

    expect(found?.post.url).toBe(`${baseUrl}/ada.example/status/${heron.id}`);
    expect(JSON.stringify(found)).not.toContain('"perch:');
  });

  it('goes on with a thread over a deleted post, from its first post on', async () => {
    const post = { platform: 'sample', handle: 'faro.example', id: '1738698866282987522' } as const;
    const store = openArchiveStore(':memory:', baseUrl);
    onTestFinished(() => store.close());
    const archive = open();
    const last = await archive.ask.post?.(
      postQuery({ post: { ...post, id: '1738742806268192954' } }),
      { signal },
    );
    const first = last?.ancestors[0]?.id ?? '';

    const found = await archive.ask.post?.(postQuery({ post: { ...post, id: first } }), { signal });

    expect(found?.continuation.map(({ type }) => type)).toEqual(['status', 'tombstone', 'status']);
  });

  it('is neither covered nor searched where it is not wanted, and stays for others', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    const withSample = open({ path });

    const without = open({ path, sample: false });

    expect(without.covers(postQuery())).toBe(false);
    expect((await search(without, searchQuery('heron'))).items).toEqual([]);
    expect((await search(withSample, searchQuery('heron'))).items.length).toBeGreaterThan(2);
  });

  it('is written once into a file that two processes open', () => {
    const path = `${temporaryFolder()}/archive.db`;

    const archives = [open({ path }), open({ path })];

    for (const archive of archives) expect(archive.covers(postQuery())).toBe(true);
  });
});

describe('an archived account', () => {
  function openWith(posts: readonly Post[]) {
    const path = `${temporaryFolder()}/archive.db`;
    const store = openArchiveStore(path, baseUrl);
    store.putAccount(stubAccount('Wren'));
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

  it('is covered by handle and by id, and nobody else is', () => {
    const archive = openWith([stubPost('20')]);

    expect([x('wren', '20'), x(null, '20'), x('wren', '21')].map(archive.covers)).toEqual([
      true,
      true,
      true,
    ]);
    expect([x('finch', '21'), x(null, '21')].map(archive.covers)).toEqual([false, false]);
  });

  it('is not said to lack a post for certain, because an export need not be whole', async () => {
    const failure = await failureOf(
      openWith([]).ask.post?.(x('wren', '21'), { signal }) ?? Promise.resolve(),
    );

    expect(failure.kind).toBe('ambiguous');
  });

  it('is read again as it was stored', async () => {
    const post = stubPost('20', { text: 'Naïve café 🐦' });

    const found = await openWith([post]).ask.post?.(x('wren', '20'), { signal });

    expect(found?.post).toEqual(post);
    expect(found?.asOfMs).toBe(1_790_000_000_000);
  });
});

describe('search in the archive', () => {
  it('finds posts with all words and phrases, without regard to case and accents', async () => {
    const archive = open();

    const words = await search(archive, searchQuery('HERON gate'));
    const phrase = await search(archive, searchQuery('"six minutes before"'));
    const none = await search(archive, searchQuery('heron zeppelin'));

    expect(words.items.length).toBeGreaterThan(0);
    expect(phrase.items.map(({ id }) => id)).toContain(heron.id);
    expect(none.items).toEqual([]);
  });

  it('gives every hit once over its pages, newest first', async () => {
    const archive = open();
    const all = await search(archive, searchQuery('the', { count: 100 }));

    const walked: Post[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<Post> = await search(archive, searchQuery('the', { count: 7, cursor }));
      walked.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== null);

    expect(walked.length).toBeGreaterThan(20);
    expect(walked).toEqual(all.items.slice(0, walked.length));
    expect(new Set(walked.map(({ id }) => id)).size).toBe(walked.length);
  });

  it('reads no input as syntax', async () => {
    const archive = open();
    const hostile = fc.oneof(
      fc.string(),
      fc.string({
        unit: fc.constantFrom(
          '"',
          '*',
          '(',
          ')',
          ':',
          '-',
          '^',
          'a',
          ' ',
          'OR',
          'NEAR',
          '\0',
          "'",
          ';',
          '{',
          '+',
        ),
      }),
    );

    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const { items } = await search(archive, searchQuery(text));
        expect(items.length).toBeLessThanOrEqual(10);
      }),
      { numRuns: 1000 },
    );
  });
});
