import type { PostFound, PostQuery } from '../../model/queries.ts';
import { createThreadOrder } from '../conversation.ts';
import type { StatusPayload } from './payload.ts';

/** The posts around one: those before it, oldest first, and all below it. */
export interface Context {
  readonly ancestors: readonly StatusPayload[];
  readonly descendants: readonly StatusPayload[];
  /** Numbers of posts of both that could not be read, and that are beyond the maximum. */
  readonly unreadable: number;
  readonly beyond: number;
}

const byOldest = (a: StatusPayload, b: StatusPayload) => a.createdMs - b.createdMs;

const threadOrder = createThreadOrder<StatusPayload>({
  parentOf: ({ in_reply_to_id }) => in_reply_to_id,
  authorOf: ({ account }) => account.id,
  likesOf: ({ favourites_count }) => favourites_count,
  byOldest,
});

/**
 * Puts the posts around one in order, each once, and each direct reply before the replies to it.
 * Replies to
 * posts that are not shown, and those that answer each other, come last.
 */
export function arrangeContext(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread, replies: order }: Pick<PostQuery, 'thread' | 'replies'>,
) {
  const above = ancestors.filter(({ id }) => id !== focal.id);
  const before = new Set([focal, ...above].map(({ id }) => id));
  const below = descendants.filter(({ id }) => !before.has(id));
  const continuation = thread ? threadOrder.pickContinuation(focal, below) : [];
  const shown = new Set([focal, ...continuation]);
  const rest = below.filter((row) => !shown.has(row));
  return {
    ancestors: thread ? above : [],
    continuation,
    replies: order === 'off' ? [] : rankReplies(rest, [...shown], order),
  };
}

function rankReplies(
  rows: readonly StatusPayload[],
  thread: readonly StatusPayload[],
  order: 'top' | 'recent',
): readonly StatusPayload[] {
  const ids = new Set([...rows, ...thread].map(({ id }) => id));
  const lost = rows.filter(({ in_reply_to_id: id }) => id === null || !ids.has(id));
  const answeredIds = thread.map(({ id }) => id);
  const others = lost.toSorted(byOldest);
  const found = new Set(threadOrder.rankReplies(rows, { answeredIds, order, others }));
  return [...found, ...rows.filter((row) => !found.has(row)).toSorted(byOldest)];
}

/** Maximum numbers of posts around one that servers show without a login. */
const [maxAncestors, maxDescendants] = [40, 60];

/** Number of posts that a server counts and may not show: recorded answers to busy threads lack one. */
const unseen = 1;

const fewReplies = `The server shows at most ${maxDescendants} replies without a login; there may be more.`;
const fewAncestors = `The server shows at most ${maxAncestors} posts before this one without a login; there may be more.`;
const lostParent =
  'What this thread answers is missing: it is not public, or its server does not know it.';

/** Returns the warnings for posts around one that the server may not have sent. */
export function tellCuts(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread }: Pick<PostQuery, 'thread'>,
): PostFound['warnings'] {
  const isFull = ancestors.length >= maxAncestors;
  const isLost = (ancestors[0] ?? focal).in_reply_to_id !== null;
  return [
    ...(thread && isLost ? [isFull ? fewAncestors : lostParent] : []),
    ...(descendants.length >= maxDescendants - unseen ? [fewReplies] : []),
  ];
}
