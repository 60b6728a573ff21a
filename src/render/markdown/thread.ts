import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';

/** The posts of a page by their part in the conversation. */
export interface Thread {
  readonly asked: Post | undefined;
  /** The posts before it, the post itself, and its author's continuation. */
  readonly chain: readonly Post[];
  readonly replies: readonly Post[];
  /** The place in the chain of each post by its id, and of the first post by each handle. */
  readonly places: ReadonlyMap<string, number>;
  readonly firstPlaces: ReadonlyMap<string, number>;
}

export function toThread(posts: readonly Post[]): Thread {
  const chain = posts.filter((post) => post.context !== 'reply');
  const asked = posts.find((post) => post.context === 'post') ?? chain[0] ?? posts[0];
  const places = new Map<string, number>();
  const firstPlaces = new Map<string, number>();
  for (const [at, { id, author }] of chain.entries()) {
    if (id !== null) places.set(id, at);
    const handle = author?.screen_name.toLowerCase();
    if (handle !== undefined && !firstPlaces.has(handle)) firstPlaces.set(handle, at);
  }
  const replies = posts.filter((post) => post.context === 'reply');
  return { asked, chain, replies, places, firstPlaces };
}

/** Returns whether one account wrote the whole chain; a tombstone may be anyone's. */
export function isByOneAuthor({ asked, chain }: Thread): boolean {
  const author = asked?.author ?? null;
  return chain.every((post) => post.author === null || isSameAccount(post.author, author));
}

export const isSameAccount = (one: Account, other: Account | null): boolean =>
  other !== null && accountKey(one) === accountKey(other);

const accountKey = (account: Account) => `${account.platform}:${account.screen_name.toLowerCase()}`;

/** Returns `2/5` for consecutive posts by one author. A tombstone without an author counts between two of them. */
export function findPositions({ chain }: Thread): ReadonlyMap<Post, string> {
  const runs = toRuns(chain).filter(({ length }) => length > 1);
  return new Map(
    runs.flatMap((run) => run.map((post, at) => [post, `${at + 1}/${run.length}`] as const)),
  );
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

/** Returns whether the page does not show the post that a post answers, or not right above it. */
export function answersElsewhere(post: Status, thread: Thread): boolean {
  const target = post.replying_to;
  if (target === null) return false;
  if (target.status !== null) return !thread.places.has(target.status);
  const isReply = post.context === 'reply';
  const end = isReply ? thread.chain.length : (thread.places.get(post.id) ?? 0);
  return (thread.firstPlaces.get(target.screen_name?.toLowerCase() ?? '') ?? end) >= end;
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
