import type { Post, Status } from '../../model/post.ts';

/** What stands around a post in its thread, oldest first. */
export interface ThreadLine {
  readonly ancestors: readonly Post[];
  readonly continuation: readonly Post[];
}

/** Splits a thread, oldest first, at the post with the id `focalId`. */
export function splitThread(thread: readonly Post[], focalId: string): ThreadLine {
  const at = thread.findIndex(({ id }) => id === focalId);
  if (at >= 0) return { ancestors: thread.slice(0, at), continuation: thread.slice(at + 1) };
  // Ids of X rise with time, so they tell the sides where the thread leaves the post out.
  const isLater = ({ id }: Post) => id !== null && compareIds(id, focalId) > 0;
  return {
    ancestors: thread.filter((post) => !isLater(post)),
    continuation: thread.filter(isLater),
  };
}

/** Gives the author's answers to themselves among `rows`: each the first to the one before it. */
export function pickContinuation(focal: Status, rows: readonly Post[]): readonly Status[] {
  const own = rows.filter(isStatus).filter(({ author }) => author.id === focal.author.id);
  const byParent = groupByParent(own.filter(({ id }) => id !== focal.id));
  const chain: Status[] = [];
  const seen = new Set([focal.id]);
  let next = byParent.get(focal.id)?.[0];
  while (next !== undefined && !seen.has(next.id)) {
    chain.push(next);
    seen.add(next.id);
    next = byParent.get(next.id)?.[0];
  }
  return chain;
}

/** How replies are ranked, and what of the conversation is shown already. */
export interface ReplyRanking {
  readonly focalId: string;
  readonly order: 'top' | 'recent';
  /** The posts before the replies; they are no replies, but may be replied to. */
  readonly shown: ThreadLine;
}

/**
 * Gives the rows that are replies: each direct reply in order, followed by the replies to it,
 * depth-first and oldest first. X mixes unrelated posts into the rows; what does not lead to the
 * post, or to its author's continuation, through other rows is left out.
 */
export function rankReplies(rows: readonly Post[], ranking: ReplyRanking): readonly Status[] {
  const { focalId, shown } = ranking;
  const before = new Set([focalId, ...[...shown.ancestors, ...shown.continuation].map(idOf)]);
  const replies = uniqueById(rows)
    .filter(isStatus)
    .filter(({ id }) => !before.has(id));
  const byParent = groupByParent(replies);
  const direct = [focalId, ...shown.continuation.map(idOf)]
    .flatMap((id) => byParent.get(id ?? '') ?? [])
    .sort(ranking.order === 'top' ? byLikes : byNewest);
  return flatten(direct, byParent);
}

/** Walks the tree below `roots`. A row has one parent, so none is met twice and no cycle is entered. */
function flatten(
  roots: readonly Status[],
  byParent: ReadonlyMap<string, readonly Status[]>,
): readonly Status[] {
  const found: Status[] = [];
  const waiting = roots.toReversed();
  for (let post = waiting.pop(); post !== undefined; post = waiting.pop()) {
    found.push(post);
    waiting.push(...(byParent.get(post.id)?.toReversed() ?? []));
  }
  return found;
}

/** Gives the first row with each id; a tombstone without one stays. */
export function uniqueById<Row extends { readonly id: string | null }>(
  rows: readonly Row[],
): readonly Row[] {
  const seen = new Set<string>();
  return rows.filter(({ id }) => {
    if (id === null) return true;
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew;
  });
}

function groupByParent(posts: readonly Status[]): ReadonlyMap<string, readonly Status[]> {
  const groups = new Map<string, Status[]>();
  for (const post of posts.toSorted(byOldest)) {
    const parent = post.replying_to?.status ?? null;
    if (parent === null || parent === post.id) continue;
    const group = groups.get(parent);
    if (group === undefined) groups.set(parent, [post]);
    else group.push(post);
  }
  return groups;
}

/** Tells a post from what stands in the place of one. */
export function isStatus(post: Post): post is Status {
  return post.type === 'status';
}

function idOf({ id }: Post): string | null {
  return id;
}

function byOldest(a: Status, b: Status): number {
  return a.created_timestamp - b.created_timestamp || compareIds(a.id, b.id);
}

function byNewest(a: Status, b: Status): number {
  return byOldest(b, a);
}

function byLikes(a: Status, b: Status): number {
  return (b.likes ?? -1) - (a.likes ?? -1) || byOldest(a, b);
}

/** Compares decimal ids without leading zeros, which exceed what a number holds. */
function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
