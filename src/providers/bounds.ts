import { mapWithPauses } from '../lib/scheduling/map.ts';
import type { Account } from '../model/account.ts';
import type { Post } from '../model/post.ts';
import type { Answers, Page, PostFound, ProfileFound, Query, QueryKind } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import {
  lineWeight,
  maxAnswerText,
  maximums,
  shortTexts,
  shownTexts,
} from '../normalize/maximums.ts';
import { type Shortening, shortenAccount, shortenPost } from '../normalize/shorten-post.ts';
import { shorten } from '../normalize/text.ts';
import { type Fetch, type Provider, platformOf, readNames } from './provider.ts';
import { describeExcess } from './rows.ts';

/** Wraps a provider. Shortens overlong posts and accounts, and adds warnings about this. */
export function withBounds(provider: Provider): Provider {
  // TypeScript types the keys as `string`, but all of them are kinds of query.
  const kinds = Object.keys(provider.fetch) as QueryKind[];
  const bounded = kinds.map((kind) => [kind, boundFetch(provider, kind)] as const);
  return { ...provider, fetch: Object.fromEntries(bounded) };
}

/** Creates a provider for one platform's servers. Shortens overlong posts and accounts. */
export function createLiveProvider(name: string, platform: Platform, fetch: Provider['fetch']) {
  const covers = (query: Query) => platformOf(query) === platform;
  return withBounds({ name, platforms: [platform], reads: new Set(readNames), covers, fetch });
}

type Bound<Kind extends QueryKind> = (
  found: Answers[Kind]['found'],
) => Answers[Kind]['found'] | Promise<Answers[Kind]['found']>;

const bounds: { readonly [Kind in QueryKind]: Bound<Kind> } = {
  post: boundPostFound,
  profile: boundProfile,
  timeline: boundPosts,
  replies: boundPosts,
  followers: boundAccounts,
  following: boundAccounts,
  search: boundPosts,
  searchUsers: boundAccounts,
};

function boundFetch<Kind extends QueryKind>(
  provider: Provider,
  kind: Kind,
): Fetch<Kind> | undefined {
  const fetch: Fetch<Kind> | undefined = provider.fetch[kind];
  const bound: Bound<Kind> = bounds[kind];
  return fetch && (async (query, context) => bound(await fetch(query, context)));
}

async function boundPostFound(found: PostFound): Promise<PostFound> {
  const { rows: max } = maximums;
  const before = found.ancestors.slice(-max);
  const after = found.continuation.slice(0, max);
  const shown = [found.post, ...before, ...after, ...found.replies.slice(0, max)];
  const [post = found.post, ...others] = await boundAll(shown);
  const ancestors = others.slice(0, before.length);
  const below = others.slice(before.length);
  const { length } = [...found.ancestors, ...found.continuation, ...found.replies];
  const warnings = [
    ...found.warnings,
    ...describeExcess(length - others.length, 'post'),
    ...describeLeftOut([...ancestors, post, ...below], []),
  ];
  const [continuation, replies] = [below.slice(0, after.length), below.slice(after.length)];
  return { ...found, ancestors, post, continuation, replies, warnings };
}

async function boundPosts(page: Page<Post>): Promise<Page<Post>> {
  const items = await boundAll(page.items);
  return { ...page, items, warnings: [...page.warnings, ...describeLeftOut(items, [])] };
}

function boundAccounts(page: Page<Account>): Page<Account> {
  const items = page.items.map((account) => shortenAccount(account, shown));
  return { ...page, items, warnings: [...page.warnings, ...describeLeftOut([], items)] };
}

function boundProfile(found: ProfileFound) {
  const account = shortenAccount(found.account, shown);
  return { ...found, account, warnings: [...found.warnings, ...describeLeftOut([], [account])] };
}

/** Bounds the posts of an answer. Those beyond the total length of its texts become very short. */
function boundAll(posts: readonly Post[]): Promise<readonly Post[]> {
  let used = 0;
  return mapWithPauses(posts, (post) => {
    const bounded = boundPost(post);
    const length = countText(bounded);
    if (used + length > maxAnswerText) return shortenPost(bounded, short);
    used += length;
    return bounded;
  });
}

function countText(post: Post): number {
  let weight = 0;
  const shortenText = (text: string) => {
    weight += text.length + (text.split('\n').length - 1) * lineWeight;
    return text;
  };
  shortenPost(post, { shortenText });
  return weight;
}

const nouns: Readonly<Record<string, string>> = {
  content_warning: 'content warning',
  community_note: 'community note',
  source: 'name of the client',
  card: 'link preview',
  embed: 'attachment',
  facets: 'links and styles',
  tags: 'hashtags',
  quote: 'quotes within quotes',
};

function describeLeftOut(posts: readonly Post[], accounts: readonly Account[]): readonly string[] {
  const all = posts.flatMap(withQuotes);
  const authors = new Set(all.flatMap(accountsOf));
  return [...describeGaps(all, 'post'), ...describeGaps([...authors, ...accounts], 'account')];
}

const withQuotes = (post: Post): readonly Post[] =>
  post.type === 'status' && post.quote !== null ? [post, ...withQuotes(post.quote)] : [post];

function accountsOf(post: Post): readonly Account[] {
  const reposter = post.type === 'status' ? post.reposted_by : null;
  if (reposter !== null) return post.author === null ? [reposter] : [post.author, reposter];
  return post.author === null ? [] : [post.author];
}

function describeGaps(rows: readonly (Post | Account)[], noun: 'post' | 'account') {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const names = 'left_out' in row ? (row.left_out ?? []) : [];
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => {
    const rows = count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
    return `In ${rows}, part of the ${nouns[name] ?? name} is missing, because the source sent too much data or unreadable data.`;
  });
}

const shown: Shortening = {
  shortenText: (text, kind) => shorten(text, shownTexts[kind]),
  namesLeftOut: true,
};

const short: Shortening = {
  shortenText: (text, kind) => shorten(text, shortTexts[kind]),
  takeBlocks: () => [],
  namesLeftOut: true,
};

/** Shortens the lists and texts of a post. Adds the names of shortened members to `left_out`. */
export const boundPost = (post: Post): Post => shortenPost(post, shown);
