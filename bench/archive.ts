import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ArchiveStore, openArchiveStore } from '../src/archive/store/store.ts';
import { systemClock, toIsoSeconds } from '../src/lib/clock.ts';
import { type Account, toAccount } from '../src/model/account.ts';
import { type Media, toMediaSet } from '../src/model/media.ts';
import type { Status } from '../src/model/post.ts';
import type { Page, SearchQuery, TimelineQuery } from '../src/model/queries.ts';
import { openArchive } from '../src/providers/archive/index.ts';
import type { Provider } from '../src/providers/provider.ts';

const baseUrl = 'http://localhost:8080';
const sizes = [1000, 100_000] as const;
const rounds = Number(process.env.BENCH_ARCHIVE_ROUNDS ?? 400);
const authors = Array.from({ length: 10 }, (_, index) => `author${index}`);
const firstSecond = 1_600_000_000;
const lastSecond = 1_780_000_000;
const limit = 20;

/** Query to measure. `goal` is the maximum ratio of its time for 100,000 posts to its time for 1,000 posts. */
interface Case {
  readonly name: string;
  readonly goal: number;
  /** Runs the query. `round` is the number of the round, and selects the queried account. */
  ask(archive: Provider, round: number): Promise<Page<unknown> | undefined>;
}

/**
 * Measures the same queries in an archive of 1,000 posts and in an archive of 100,000 posts.
 * @returns The lines of a Markdown section.
 */
export async function benchArchive(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-archive-'));
  try {
    const built = sizes.map((size) => build(join(folder, `${size}.db`), size));
    const archives = built.map(({ path }) =>
      openArchive({ path, sample: false, baseUrl, clock: systemClock }),
    );
    const rows: string[] = [];
    for (const each of cases) rows.push(await measureCase(each, archives));
    for (const archive of archives) archive.close?.();
    return [...header(built), ...rows, ''];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function header(built: readonly ReturnType<typeof build>[]): string[] {
  const times = built.map(
    ({ size, seconds, mebibytes }) =>
      `- ${size.toLocaleString('en')} posts: written in ${seconds.toFixed(1)} s, ${mebibytes.toFixed(1)} MiB`,
  );
  return [
    '## Archive',
    '',
    `Medians of ${rounds} rounds in one process. Each round queries both archives in turn through the`,
    `provider. Pages have ${limit} items, and both archives return the same number of results.`,
    '',
    ...times,
    '',
    '| read | 1,000 posts | 100,000 posts | ratio | goal |',
    '| --- | --- | --- | --- | --- |',
  ];
}

async function measureCase(each: Case, archives: readonly Provider[]): Promise<string> {
  const times = archives.map((archive) => ({ archive, ms: [] as number[] }));
  const warmUp = Math.ceil(rounds / 10);
  for (let round = -warmUp; round < rounds; round++) {
    // The order of the archives alternates between rounds.
    for (const { archive, ms } of round % 2 === 0 ? times : times.toReversed()) {
      const taken = await timeOnce(each, archive, Math.abs(round));
      if (round >= 0) ms.push(taken);
    }
  }
  const [small = 0, large = 0] = times.map(({ ms }) => median(ms));
  const shown = [small, large].map((ms) => `${(ms * 1000).toFixed(0)} µs`);
  const verdict = large / small <= each.goal ? '' : ' (missed)';
  return `| ${each.name} | ${shown.join(' | ')} | ${(large / small).toFixed(2)} | ${each.goal}${verdict} |`;
}

async function timeOnce(each: Case, archive: Provider, round: number): Promise<number> {
  const begun = performance.now();
  const page = await each.ask(archive, round);
  const taken = performance.now() - begun;
  if (page !== undefined && page.items.length !== limit) {
    throw new Error(`${each.name} returned ${page.items.length} items.`);
  }
  return taken;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const { signal } = new AbortController();
const accountAt = (round: number) =>
  ({ platform: 'x', handle: authors[round % authors.length] ?? '' }) as const;

function search(text: string, more: Partial<SearchQuery> = {}): Case {
  const query: SearchQuery = {
    kind: 'search',
    platform: 'archive',
    text,
    feed: 'latest',
    sinceSeconds: null,
    untilSeconds: null,
    cursor: null,
    count: limit,
    ...more,
  };
  const feed = query.feed === 'latest' ? '' : `, ${query.feed}`;
  const until = query.untilSeconds === null ? '' : ', deep';
  return {
    name: `search \`${text}\`${feed}${until}`,
    goal: 3,
    ask: async (archive) => archive.fetch.search?.(query, { signal }),
  };
}

function timeline(name: string, more: Partial<TimelineQuery> = {}): Case {
  return {
    name: `timeline, ${name}`,
    goal: 1.5,
    ask: async (archive, round) => {
      const query: TimelineQuery = {
        kind: 'timeline',
        account: accountAt(round),
        withReplies: true,
        withReposts: true,
        untilSeconds: null,
        cursor: null,
        count: limit,
        ...more,
      };
      return archive.fetch.timeline?.(query, { signal });
    },
  };
}

function followers(name: string, cursor: string | null): Case {
  return {
    name: `followers, ${name}`,
    goal: 1.5,
    ask: async (archive, round) => {
      const account = accountAt(round);
      return archive.fetch.followers?.(
        { kind: 'followers', account, cursor, count: limit },
        { signal },
      );
    },
  };
}

const late = firstSecond + (lastSecond - firstSecond) * 0.4;

const cases: readonly Case[] = [
  search('the'),
  search('the', { untilSeconds: late }),
  search('w30'),
  search('scarce'),
  search('"quiet harbour"'),
  search('"the quiet harbour"'),
  search('the w3'),
  search('the -w1'),
  search('-the'),
  search('from:author3'),
  search('from:author3 the'),
  search('#tide'),
  search('filter:media the'),
  search('東京'),
  search('the', { feed: 'top' }),
  search('scarce', { feed: 'top' }),
  search('quiet', { feed: 'top' }),
  search('the', { feed: 'photos' }),
  {
    name: 'search of accounts `scarce`',
    goal: 3,
    ask: async (archive) => {
      const query = { kind: 'searchUsers', platform: 'archive', text: 'scarce' } as const;
      return archive.fetch.searchUsers?.({ ...query, cursor: null, count: limit }, { signal });
    },
  },
  {
    name: 'profile',
    goal: 1.5,
    ask: async (archive, round) => {
      await archive.fetch.profile?.({ kind: 'profile', account: accountAt(round) }, { signal });
      return undefined;
    },
  },
  timeline('first page'),
  timeline('deep', { untilSeconds: late }),
  timeline('without replies', { withReplies: false }),
  timeline('without reposts', { withReposts: false }),
  followers('first page', null),
  followers('deep', 'follower5'),
];

/**
 * Writes an archive with `size` posts, `size` / 10 reposts and `size` / 10 accounts that follow every author.
 * Returns the size of the file in MiB and the build time in seconds.
 */
function build(path: string, size: number) {
  const begun = performance.now();
  const store = openArchiveStore(path, baseUrl);
  const posts = makePosts(size);
  store.transact(() => putAccounts(store, size));
  for (let start = 0; start < size; start += 5000) {
    store.transact(() => {
      for (const post of posts.slice(start, start + 5000)) putPost(store, post);
    });
  }
  store.transact(() => putReposts(store, posts));
  store.close();
  const seconds = (performance.now() - begun) / 1000;
  return { path, size, seconds, mebibytes: statSync(path).size / 2 ** 20 };
}

function putAccounts(store: ArchiveStore, size: number): void {
  for (const handle of authors) store.putAccount({ account: makeAccount(handle), stored: 1 });
  for (let index = 0; index < size / 10; index++) {
    const follower = `follower${index}`;
    const isScarce = index % (size / 10 / 25) < 1;
    const description = isScarce ? 'A scarce bird' : 'A bird';
    const account = { ...makeAccount(follower), description, followers: index % 1000 };
    if (index % 2 === 0 || isScarce) store.putAccount({ account, stored: 1 });
    for (const followed of authors) {
      store.putFollow({ platform: 'x', follower, followed, stored: 1 });
    }
  }
}

function putPost(store: ArchiveStore, post: Status): void {
  store.putPost({
    platform: 'x',
    handle: post.author.screen_name,
    id: post.id,
    parentId: post.replying_to?.status ?? null,
    created: post.created_timestamp,
    stored: 1,
    post,
  });
}

function putReposts(store: ArchiveStore, posts: readonly Status[]): void {
  for (const [index, post] of posts.entries()) {
    if (index % 10 !== 0) continue;
    store.putRepost({
      platform: 'x',
      handle: authors[(index / 10) % authors.length] ?? '',
      postHandle: post.author.screen_name,
      postId: post.id,
      created: post.created_timestamp + 3600,
      stored: 1,
    });
  }
}

function makeAccount(handle: string): Account {
  return toAccount({
    id: handle,
    screen_name: handle,
    name: handle,
    url: `https://x.com/${handle}`,
    platform: 'x',
  });
}

/** Creates posts from seeded random numbers, so that every run has the same posts. */
function makePosts(size: number): Status[] {
  const random = createRandom();
  const accounts = authors.map(makeAccount);
  return Array.from({ length: size }, (_, index) => {
    const author = accounts[Math.floor(random() * accounts.length)] ?? makeAccount('nobody');
    const seconds = firstSecond + Math.floor(((index + random()) / size) * 180_000_000);
    const isScarce = index % (size / 25) === 0;
    return makePost({ index, author, seconds, text: makeText(random, isScarce), random });
  });
}

/** Returns about 25 words, some frequent and most rare, as in natural text. `isScarce` adds the word `scarce`. */
function makeText(random: () => number, isScarce: boolean): string {
  const words = Array.from({ length: 12 + Math.floor(random() * 25) }, () =>
    random() < 0.06 ? 'the' : `w${Math.floor(20_000 ** random())}`,
  );
  const more = [
    [0.05, 'the quiet harbour'],
    [0.1, 'quiet'],
    [0.1, 'harbour'],
    [0.05, '#tide'],
    [0.05, '東京タワーが見える'],
    [0.2, '京都と東北'],
  ] as const;
  for (const [share, text] of more) if (random() < share) words.push(text);
  return [...words, ...(isScarce ? ['scarce'] : [])].join(' ');
}

interface Made {
  readonly index: number;
  readonly author: Account;
  readonly seconds: number;
  readonly text: string;
  readonly random: () => number;
}

function makePost({ index, author, seconds, text, random }: Made): Status {
  const id = String(index + 1);
  const tag = text.indexOf('#tide');
  return {
    type: 'status',
    id,
    url: `https://x.com/${author.screen_name}/status/${id}`,
    text,
    facets: tag < 0 ? [] : [{ type: 'hashtag', start: tag, end: tag + 5 }],
    created_at: toIsoSeconds(seconds * 1000),
    created_timestamp: seconds,
    author,
    lang: 'en',
    replies: 0,
    reposts: Math.floor(random() ** 4 * 500),
    likes: Math.floor(random() ** 4 * 5000),
    quotes: 0,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: false,
    replying_to: random() < 0.4 ? { screen_name: 'another', status: '1', url: null } : null,
    quote: null,
    reposted_by: null,
    media: toMediaSet(random() < 0.2 ? [photo] : []),
    poll: null,
    article: null,
    content_warning: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'x',
  };
}

const photo: Media = {
  type: 'photo',
  url: 'https://pictures.example/1.jpg',
  width: 1600,
  height: 900,
  alt: null,
};

/** Creates a seeded random number generator (mulberry32). */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log((await benchArchive()).join('\n'));
}
