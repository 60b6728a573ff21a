import { z } from 'zod';
import { Problem, quoteInput } from '../core/problem.ts';
import { postSubject } from '../fetching/cache/subjects.ts';
import { isPostId, type PostReference, parsePostParams, postUrl } from '../model/reference.ts';
import { browseReply } from '../model/results.ts';
import { type BrowseTarget, listParams, understandPage } from './browse.ts';
import { choice, freeText, parseParameters } from './parameters.ts';
import type { PlanContext, Read } from './read.ts';

/** The parameters of a list of replies. */
const listRepliesParams = z.object({
  id: freeText('invalid_params').describe('The post’s id.'),
  handle: freeText('invalid_params')
    .optional()
    .describe('The handle of the post’s author. Where it is left out, the id is one of X.'),
  replies: choice('invalid_replies', ['top', 'recent'])
    .default('top')
    .describe('`top`: the most liked direct replies first. `recent`: the newest.'),
  ...listParams,
});

type Params = z.output<typeof listRepliesParams>;

/** Reads what answers a post, page by page. */
export const listReplies: Read = {
  name: 'listReplies',
  summary: 'Lists the replies to a public post, each followed by the replies to it.',
  tool: 'list_replies',
  kind: 'browse',
  isBrowse: false,
  params: listRepliesParams,
  requires: [],
  reply: browseReply,
  understand: (given, context) => {
    const params = parseParameters(listRepliesParams, given);
    return understandPage(toTarget(params, context), params, context);
  },
};

function toTarget(params: Params, { baseUrl }: PlanContext): BrowseTarget {
  const post = toReference(params);
  const { platform, handle, id } = post;
  const { replies: order } = params;
  return {
    subject: { resource: 'replies', id, handle, url: postUrl(post, baseUrl), answered: null },
    cacheSubject: postSubject(post),
    profile: null,
    list: { kind: 'replies', post, order },
    identity: ['replies', platform, handle, id, order],
    path: `/posts/${encodeURIComponent(id)}/replies`,
    parameters: { handle: handle ?? undefined, replies: order === 'top' ? undefined : order },
    freshness: 'list',
  };
}

/** On X the id decides, so no handle that somebody has sent stands on the page of somebody else. */
function toReference({ handle, id }: Params): PostReference {
  if (handle !== undefined) {
    const post = parsePostParams(handle, id);
    return post.platform === 'x' ? { ...post, handle: null } : post;
  }
  if (isPostId('x', id)) return { platform: 'x', handle: null, id };
  throw new Problem('invalid_params', {
    detail: `The parameter \`id\` has the value ${quoteInput(id)}, which is no post id on X; a post of another platform needs \`handle\` as well.`,
  });
}
