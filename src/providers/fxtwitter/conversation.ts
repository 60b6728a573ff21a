import type { Post, Status } from '../../model/post.ts';
import { createThreadOrder } from '../conversation.ts';
import { uniqueById } from '../rows.ts';

/** The posts before and after a post in its thread, oldest first. */
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

const threadOrder = createThreadOrder<Status>({
  parentOf: ({ replying_to }) => replying_to?.status ?? null,
  authorOf: ({ author }) => author.id,
  likesOf: ({ likes }) => likes,
  byOldest: (a, b) => a.created_timestamp - b.created_timestamp || compareIds(a.id, b.id),
});

/** Returns the author's answers to themselves among `rows`: each the first to the one before it. */
export function pickContinuation(focal: Status, rows: readonly Post[]): readonly Status[] {
  return threadOrder.pickContinuation(
    focal,
    rows.filter((row) => row.type === 'status'),
  );
}

interface ReplyRanking {
  readonly focalId: string;
  readonly order: 'top' | 'recent';
  /** The posts before the replies; they are no replies, but may be replied to. */
  readonly shown: ThreadLine;
}

/**
 * Returns the rows that are replies: each direct one in order, followed by the replies to it,
 * oldest first.
 * X mixes in unrelated posts; rows that do not lead to the post or its continuation are left out.
 */
export function rankReplies(rows: readonly Post[], ranking: ReplyRanking): readonly Status[] {
  const { focalId, order, shown } = ranking;
  const answeredIds = [focalId, ...shown.continuation.map(({ id }) => id)];
  const before = new Set([...answeredIds, ...shown.ancestors.map(({ id }) => id)]);
  const replies = uniqueById(rows)
    .filter((row) => row.type === 'status')
    .filter(({ id }) => !before.has(id));
  return threadOrder.rankReplies(replies, { answeredIds, order });
}

/** Compares decimal ids without leading zeros, which exceed what a number holds. */
function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
