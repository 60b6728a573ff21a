import { mapInSlices, type Sliced } from '../core/scheduling/slices.ts';
import type { Account } from '../model/account.ts';
import type { Post } from '../model/post.ts';
import type { Answers, Page, PostFound, ProfileFound, Query, QueryKind } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import { lineWeight, maxAnswerText, maximums, shortTexts } from '../platforms/maximums.ts';
import { boundAccount, boundPost } from './bound-post.ts';
import { type Ask, type Provider, platformOf, readNames } from './provider.ts';
import { tellBeyond } from './rows.ts';

/**
 * Bounds the lists and texts of a provider's answers, with warnings for what is left out. Rows of a
 * page
 * are not counted here, since its cursor leads on below the last of them.
 */
export function withBounds(provider: Provider): Provider {
  // The keys of `ask` are kinds of query, by its type.
  const kinds = Object.keys(provider.ask) as QueryKind[];
  const bounded = kinds.map((kind) => [kind, boundAsk(provider, kind)] as const);
  return { ...provider, ask: Object.fromEntries(bounded) };
}

export function createLiveProvider(name: string, platform: Platform, ask: Provider['ask']) {
  const covers = (query: Query) => platformOf(query) === platform;
  return withBounds({ name, platforms: [platform], reads: new Set(readNames), covers, ask });
}

type Bound<Kind extends QueryKind> = (
  found: Answers[Kind]['found'],
  sliced: Sliced,
) => Promise<Answers[Kind]['found']>;

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

function boundAsk<Kind extends QueryKind>(provider: Provider, kind: Kind): Ask<Kind> | undefined {
  const ask: Ask<Kind> | undefined = provider.ask[kind];
  const bound: Bound<Kind> = bounds[kind];
  return ask && (async (query, context) => bound(await ask(query, context), context));
}

/** The text of the post comes first, then that of its thread, so that replies are shortened first. */
async function boundPostFound(found: PostFound, sliced: Sliced): Promise<PostFound> {
  const { rows: max } = maximums;
  const budget = createBudget(sliced);
  const [post = found.post] = await budget([found.post]);
  const parts = {
    ancestors: await budget(found.ancestors.slice(-max)),
    post,
    continuation: await budget(found.continuation.slice(0, max)),
    replies: await budget(found.replies.slice(0, max)),
  };
  const lists = [found.ancestors, found.continuation, found.replies];
  const beyond = lists.reduce((sum, { length }) => sum + Math.max(0, length - max), 0);
  const posts = [...parts.ancestors, post, ...parts.continuation, ...parts.replies];
  const warnings = [...found.warnings, ...tellBeyond(beyond, 'post'), ...tellLeftOut(posts, [])];
  return { ...found, ...parts, warnings };
}

async function boundPosts(page: Page<Post>, sliced: Sliced): Promise<Page<Post>> {
  const items = await createBudget(sliced)(page.items);
  return { ...page, items, warnings: [...page.warnings, ...tellLeftOut(items, [])] };
}

async function boundAccounts(page: Page<Account>, sliced: Sliced): Promise<Page<Account>> {
  const items = await mapInSlices(page.items, (account) => boundAccount(account), sliced);
  return { ...page, items, warnings: [...page.warnings, ...tellLeftOut([], items)] };
}

async function boundProfile(found: ProfileFound) {
  const account = boundAccount(found.account);
  return { ...found, account, warnings: [...found.warnings, ...tellLeftOut([], [account])] };
}

function createBudget(sliced: Sliced): (posts: readonly Post[]) => Promise<readonly Post[]> {
  let used = 0;
  const bound = (post: Post): Post => {
    const bounded = boundPost(post);
    const length = countText(bounded);
    const isWithin = used + length <= maxAnswerText;
    used += isWithin ? length : 0;
    return isWithin ? bounded : boundPost(bounded, shortTexts);
  };
  return (posts) => mapInSlices(posts, bound, sliced);
}

/** Counts the UTF-16 code units of all texts of a post that readers see, and `lineWeight` for each line break. */
function countText(post: Post): number {
  if (post.type === 'tombstone') return weigh(post.text);
  const { article, card, poll, quote } = post;
  const texts = [
    post.text,
    post.content_warning,
    post.community_note,
    ...accountsOf(post).flatMap(({ name, description, location }) => [name, description, location]),
    ...post.media.all.map(({ alt }) => alt),
    ...(poll?.choices.map(({ label }) => label) ?? []),
    ...(article?.blocks.map((block) => ('text' in block ? block.text : '')) ?? []),
    article?.preview_text,
    card?.description,
  ];
  const own = texts.reduce((sum, text) => sum + weigh(text), 0);
  return own + (quote === null ? 0 : countText(quote));
}

function weigh(text: string | null | undefined): number {
  return text ? text.length + (text.split('\n').length - 1) * lineWeight : 0;
}

/** Words for members whose names are not plain. */
const nouns: Readonly<Record<string, string>> = {
  content_warning: 'content warning',
  community_note: 'community note',
  source: 'name of the client',
  card: 'link preview',
  facets: 'links and styles',
  tags: 'hashtags',
  quote: 'quotes within quotes',
};

function tellLeftOut(posts: readonly Post[], accounts: readonly Account[]): readonly string[] {
  const all = posts.flatMap(withQuotes);
  const authors = new Set(all.flatMap(accountsOf));
  return [...tellEach(all, 'post'), ...tellEach([...authors, ...accounts], 'account')];
}

function withQuotes(post: Post): readonly Post[] {
  return post.type === 'status' && post.quote !== null ? [post, ...withQuotes(post.quote)] : [post];
}

function accountsOf(post: Post): readonly Account[] {
  const reposter = post.type === 'status' ? post.reposted_by : null;
  return [post.author, reposter].filter((account) => account !== null);
}

function tellEach(rows: readonly (Post | Account)[], noun: 'post' | 'account'): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of rows.flatMap((row) => ('left_out' in row ? (row.left_out ?? []) : []))) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => {
    const rows = count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
    return `In ${rows}, part of the ${nouns[name] ?? name} is missing: the source sent more than Perch reads, or something unreadable.`;
  });
}
