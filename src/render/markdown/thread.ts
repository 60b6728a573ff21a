import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';

export interface Thread {
  /** `undefined` if the page has no posts. */
  readonly main: Post | undefined;
  /** Ancestors of the requested post, the post itself, and its author's continuation. */
  readonly chain: readonly Post[];
  readonly replies: readonly Post[];
  /** Position of each post in `chain`, counted from 0, by post id. */
  readonly indexes: ReadonlyMap<string, number>;
  /** Index of each author's first post in `chain`, by lower-case handle. */
  readonly firstIndexes: ReadonlyMap<string, number>;
}

export function toThread(posts: readonly Post[]): Thread {
  const chain: Post[] = [];
  const replies: Post[] = [];
  for (const post of posts) (post.context === 'reply' ? replies : chain).push(post);
  const main = posts.find((post) => post.context === 'post') ?? chain[0] ?? posts[0];
  const indexes = new Map<string, number>();
  const firstIndexes = new Map<string, number>();
  for (const [at, { id, author }] of chain.entries()) {
    if (id !== null) indexes.set(id, at);
    const handle = author?.screen_name.toLowerCase();
    if (handle !== undefined && !firstIndexes.has(handle)) firstIndexes.set(handle, at);
  }
  return { main, chain, replies, indexes, firstIndexes };
}

/** Returns whether one account wrote all posts of `chain`. Ignores unknown authors. */
export function isByOneAuthor({ main, chain }: Thread): boolean {
  const author = main?.author ?? null;
  return chain.every((post) => post.author === null || isSameAccount(post.author, author));
}

export const isSameAccount = (one: Account, other: Account | null): boolean =>
  other !== null && accountKey(one) === accountKey(other);

const accountKey = (account: Account) => `${account.platform}:${account.screen_name.toLowerCase()}`;

/** Returns positions, such as `2/5`, in runs by one author, including unknown authors. */
export function findPositions({ chain }: Thread): ReadonlyMap<Post, string> {
  const positions = new Map<Post, string>();
  for (const run of toRuns(chain)) {
    if (run.length < 2) continue;
    for (const [at, post] of run.entries()) positions.set(post, `${at + 1}/${run.length}`);
  }
  return positions;
}

function toRuns(chain: readonly Post[]): Post[][] {
  const runs: Post[][] = [];
  let lost: Post[] = [];
  let author: Account | null = null;
  for (const post of chain) {
    if (post.author === null) {
      lost.push(post);
      continue;
    }
    if (isSameAccount(post.author, author)) runs.at(-1)?.push(...lost, post);
    else runs.push([post]);
    [lost, author] = [[], post.author];
  }
  return runs;
}

/** Returns whether `chain` lacks the target: without an id, any earlier post by its author. */
export function isReplyTargetElsewhere(post: Status, thread: Thread): boolean {
  const target = post.replying_to;
  if (target === null) return false;
  if (target.status !== null) return !thread.indexes.has(target.status);
  const isReply = post.context === 'reply';
  const end = isReply ? thread.chain.length : (thread.indexes.get(post.id) ?? 0);
  return (thread.firstIndexes.get(target.screen_name?.toLowerCase() ?? '') ?? end) >= end;
}

export function findAccounts(posts: readonly Post[]): Account[] {
  const found = new Map<string, Account>();
  for (const account of posts.flatMap(accountsOf)) {
    found.set(accountKey(account), found.get(accountKey(account)) ?? account);
  }
  return [...found.values()];
}

function accountsOf(post: Post): readonly Account[] {
  if (post.type === 'tombstone') return post.author === null ? [] : [post.author];
  const { author, reposted_by: reposter, quote } = post;
  return [author, ...(reposter ? [reposter] : []), ...(quote ? accountsOf(quote) : [])];
}
