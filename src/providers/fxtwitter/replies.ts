import { mapInSlices } from '../../core/scheduling/slices.ts';
import type { Status } from '../../model/post.ts';
import type { RepliesQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { unreadParts } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, tellUnread } from '../rows.ts';
import type { FxTwitterClient, PostAnswer } from './client.ts';
import { rankReplies, splitThread } from './post.ts';
import { shapePost, shapeStatus } from './shape.ts';

const noMore = 'X sends no more replies from here on. It does the same where it fails.';

/**
 * Creates the read of a page of replies. X sorts pages but not their rows, and names a next page
 * below the
 * last reply too, with unrelated posts: a page without a reply ends the list.
 */
export function askReplies(client: FxTwitterClient): Ask<'replies'> {
  return async (query, context) => {
    const answer = await readPage(client, query, context);
    if (answer === null) return { items: [], cursor: null, warnings: [noMore] };
    const { status, thread, replies, cursor } = answer;
    if (replies === null) throw new ProviderError('unavailable', unreadParts.replies);
    const focal = shapeStatus(status);
    const before = await mapInSlices(thread?.rows ?? [], shapePost, context);
    const { ancestors } = splitThread(before, focal.id);
    const items = rankReplies(await mapInSlices(replies.rows, shapePost, context), {
      focalId: focal.id,
      order: query.order,
      shown: { ancestors, continuation: [] },
    });
    const rows = countSent(replies);
    return {
      items,
      cursor: items.length === 0 || cursor === query.cursor ? null : cursor,
      rows,
      answered: focal,
      warnings: [...tellUnread(replies, 'post'), ...(rows === 0 ? tellEmpty(focal, query) : [])],
    };
  };
}

/** X sends an empty page now and then in place of a fuller one, so it need not be the end. */
function tellEmpty({ replies }: Status, { cursor }: RepliesQuery): readonly string[] {
  if (cursor !== null) return [noMore];
  const count = replies ?? 0;
  if (count === 0) return [];
  const counted = count === 1 ? '1 reply' : `${count} replies`;
  return [`X counts ${counted} to this post, and sends none now.`];
}

/** Reads a page; `null` where a later one is missing, which says nothing of the post itself. */
async function readPage(
  client: FxTwitterClient,
  { post, order, cursor }: RepliesQuery,
  context: ProviderContext,
): Promise<PostAnswer | null> {
  try {
    return await client.readConversation(post.id, { order, cursor }, context);
  } catch (error) {
    const isEnd = error instanceof ProviderError && error.kind === 'ambiguous';
    if (cursor === null || !isEnd) throw error;
    return null;
  }
}
