import type { PostFound } from '../../model/queries.ts';
import type { StatusPayload } from './payload.ts';

/** What a server tells of the posts around one: those before it, oldest first, and all below it. */
export interface Context {
  readonly ancestors: readonly StatusPayload[];
  readonly descendants: readonly StatusPayload[];
  /** How many posts of both could not be read, and how many there were more than are read. */
  readonly unreadable: number;
  readonly beyond: number;
}

/** Which of the posts around one are wanted. */
export interface Wanted {
  readonly thread: boolean;
  readonly replies: 'top' | 'recent' | 'off';
}

/** The posts around one by the part they play. */
export interface ArrangedContext {
  readonly ancestors: readonly StatusPayload[];
  readonly continuation: readonly StatusPayload[];
  readonly replies: readonly StatusPayload[];
}

type ByParent = ReadonlyMap<string, readonly StatusPayload[]>;

/**
 * Puts what stands around a post in order. The continuation is the author's chain of answers to
 * themselves. Each direct reply is followed by the replies to it; at the end stand replies to posts
 * that are not shown, and those that a server says answer each other. Each post is there once.
 */
export function arrangeContext(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread, replies }: Wanted,
): ArrangedContext {
  const above = ancestors.filter(({ id }) => id !== focal.id);
  const before = new Set([focal, ...above].map(({ id }) => id));
  const below = descendants.filter(({ id }) => !before.has(id));
  const continuation = thread ? pickContinuation(focal, groupByParent(below)) : [];
  const shown = new Set([focal, ...continuation]);
  const rest = below.filter((row) => !shown.has(row));
  return {
    ancestors: thread ? above : [],
    continuation,
    replies: replies === 'off' ? [] : rankReplies(rest, [...shown], replies),
  };
}

function pickContinuation(focal: StatusPayload, byParent: ByParent): readonly StatusPayload[] {
  const chain: StatusPayload[] = [];
  const isOwn = ({ account }: StatusPayload) => account.id === focal.account.id;
  const seen = new Set([focal.id]);
  let next = byParent.get(focal.id)?.find(isOwn);
  while (next !== undefined && !seen.has(next.id)) {
    chain.push(next);
    seen.add(next.id);
    next = byParent.get(next.id)?.find(isOwn);
  }
  return chain;
}

function rankReplies(
  rows: readonly StatusPayload[],
  thread: readonly StatusPayload[],
  order: 'top' | 'recent',
): readonly StatusPayload[] {
  const byParent = groupByParent(rows);
  const direct = thread
    .flatMap(({ id }) => byParent.get(id) ?? [])
    .sort(order === 'top' ? byLikes : (a, b) => byOldest(b, a));
  const ids = new Set(rows.map(({ id }) => id));
  const threadIds = new Set(thread.map(({ id }) => id));
  const isLost = ({ in_reply_to_id: id }: StatusPayload) =>
    id === null || !(ids.has(id) || threadIds.has(id));
  const found = flatten([...direct, ...rows.filter(isLost).toSorted(byOldest)], byParent);
  const met = new Set(found);
  return [...found, ...rows.filter((row) => !met.has(row)).toSorted(byOldest)];
}

/** Walks the tree below `roots`. Each row has one parent, so none is met twice. */
function flatten(roots: readonly StatusPayload[], byParent: ByParent): readonly StatusPayload[] {
  const found: StatusPayload[] = [];
  const waiting = roots.toReversed();
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    found.push(row);
    waiting.push(...(byParent.get(row.id)?.toReversed() ?? []));
  }
  return found;
}

/** Groups posts by what they answer, the oldest first. */
function groupByParent(rows: readonly StatusPayload[]): ByParent {
  const groups = new Map<string, StatusPayload[]>();
  for (const row of rows.toSorted(byOldest)) {
    const parent = row.in_reply_to_id;
    if (parent === null || parent === row.id) continue;
    const group = groups.get(parent);
    if (group === undefined) groups.set(parent, [row]);
    else group.push(row);
  }
  return groups;
}

function byOldest(a: StatusPayload, b: StatusPayload): number {
  return a.createdMs - b.createdMs;
}

function byLikes(a: StatusPayload, b: StatusPayload): number {
  return (b.favourites_count ?? -1) - (a.favourites_count ?? -1) || byOldest(a, b);
}

/** What servers give at most without a login (Mastodon, section 2). */
const [maxAncestors, maxDescendants] = [40, 60];

/** Posts that a server counts and may not show: its recorded answers to busy threads lack one. */
const unseen = 1;

const fewReplies = `The server shows at most ${maxDescendants} replies without a login; there may be more.`;
const fewAncestors = `The server shows at most ${maxAncestors} posts before this one without a login; there may be more.`;
const lostParent =
  'What this thread answers is missing: it is not public, or its server does not know it.';

/** Says what of the surroundings of a post a server has not told. */
export function tellCuts(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread }: Pick<Wanted, 'thread'>,
): PostFound['warnings'] {
  const isFull = ancestors.length >= maxAncestors;
  const isLost = (ancestors[0] ?? focal).in_reply_to_id !== null;
  return [
    ...(thread && isLost ? [isFull ? fewAncestors : lostParent] : []),
    ...(descendants.length >= maxDescendants - unseen ? [fewReplies] : []),
  ];
}
