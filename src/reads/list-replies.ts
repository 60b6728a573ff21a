import * as z from 'zod';
import { postSubject } from '../fetching/cache/subjects.ts';
import { Problem, quoteInput } from '../lib/problem.ts';
import { postUrl } from '../model/addresses/urls.ts';
import { isPostId, type PostReference, parsePostParams } from '../model/reference.ts';
import { createListRead, type ListTarget, listParams } from './list.ts';
import { choice, freeText } from './parameters.ts';
import type { PlanContext } from './read.ts';

const params = z.object({
  id: freeText('invalid_params').describe('Id of the post.'),
  handle: freeText('invalid_params')
    .optional()
    .describe(
      'The handle of the post’s author. Required unless the post is on X, or its id is a URL.',
    ),
  replies: choice('invalid_replies', ['top', 'recent'])
    .default('top')
    .describe(
      'Order of the direct replies. `top`: the most liked first. `recent`: the newest first.',
    ),
  ...listParams,
});

type Params = z.output<typeof params>;

export const listReplies = createListRead(
  {
    name: 'listReplies',
    title: 'List the replies to a post',
    topic: 'posts',
    summary: 'Lists the replies to a public post, each followed by the replies to it.',
    tool: 'list_replies',
    isBrowse: false,
    params,
  },
  toTarget,
);

function toTarget(params: Params, { baseUrl }: PlanContext): ListTarget<Params> {
  const post = toReference(params);
  const { handle, id } = post;
  const { replies: order } = params;
  return {
    subject: { resource: 'replies', id, handle, url: postUrl(post, baseUrl), answered: null },
    cacheSubject: postSubject(post),
    param: params.handle === undefined ? 'id' : 'handle',
    list: { kind: 'replies', post, order },
    path: `/posts/${encodeURIComponent(id)}/replies`,
    parameters: { ...params, id: undefined, handle: handle ?? undefined },
  };
}

function toReference({ handle, id }: Params): PostReference {
  if (handle !== undefined) {
    const post = parsePostParams(handle, id);
    return post.platform === 'x' ? { ...post, handle: null } : post;
  }
  if (isPostId('activitypub', id)) return { platform: 'activitypub', handle: null, id };
  if (isPostId('x', id)) return { platform: 'x', handle: null, id };
  const detail = `The parameter \`id\` has the value ${quoteInput(id)}, which is not a valid post id on X. For a post on another platform, add the parameter \`handle\`.`;
  throw new Problem('invalid_params', { detail, param: 'id' });
}
