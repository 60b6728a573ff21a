import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import { type Answer, type Plan, postIn } from '../fetching/plan.ts';
import { canonicalUrl } from '../model/post.ts';
import { embedUrl, type PostReference, parsePostParams } from '../model/reference.ts';
import { type PostResult, postFormats, postReply } from '../model/results.ts';
import { readPostUrl } from './addresses/post-address.ts';
import { choice, freeText, parseParameters, threadMode, truth } from './parameters.ts';
import { missingUrl, toPostPlan } from './post-plan.ts';
import { arrangePosts, type PostView } from './post-view.ts';
import { nameViews, type PlanContext, type Read, staleWarnings, type Understood } from './read.ts';

/** The parameters of a post read. */
const getPostParams = z.object({
  url: freeText('invalid_url').optional().describe('The URL of the post.'),
  handle: freeText('invalid_params')
    .optional()
    .describe('The author’s handle, with `id`; `url` wins when both are given.'),
  id: freeText('invalid_params').optional().describe('The post’s id, with `handle`.'),
  thread: threadMode()
    .default('full')
    .describe(
      '`off`: the post alone. `full`: with its thread. `conversation`: with replies to replies too. A count: at most that many posts of the thread.',
    ),
  context: choice('invalid_context', ['full', 'thread'])
    .default('full')
    .describe(
      '`full`: ancestors, the author’s continuation, replies. `thread`: the author’s own chain.',
    ),
  replies: choice('invalid_replies', ['top', 'recent', 'off'])
    .default('top')
    .describe('`top`: the most liked replies first. `recent`: the newest. `off`: none.'),
  userinfo: choice('invalid_userinfo', ['off', 'author', 'all'])
    .optional()
    .describe(
      'Whose profile the Markdown adds. Where it is left out, `off`, with `full=true` `author`.',
    ),
  full: truth()
    .default(false)
    .describe('Adds exact times, metrics and profile detail to the Markdown.'),
  nocache: truth().default(false).describe('Skips the response cache.'),
  format: choice('invalid_format', postFormats)
    .optional()
    .describe(
      'Where it is left out, `markdown` or what `Accept` prefers. `obsidian` has YAML front matter.',
    ),
});

/** Reads a post with its thread and replies. */
export const getPost: Read = {
  name: 'getPost',
  summary: 'Reads a public post with its thread and replies.',
  tool: 'get_post',
  kind: 'post',
  isBrowse: false,
  params: getPostParams,
  requires: [],
  reply: postReply,
  understand: (given, context) => understand(parseParameters(getPostParams, given), context),
};

type Params = z.output<typeof getPostParams>;

function understand(params: Params, context: PlanContext): Understood {
  const view = toView(params);
  return {
    plan: toPlan(toReference(params, context), view, !params.nocache),
    format: params.format,
    views: nameViews(`${view.thread} ${view.context} ${view.full} ${view.userDetail}`),
    assemble: (answer) => assemble(answer, view, context),
  };
}

function toReference({ url, handle, id }: Params, context: PlanContext): PostReference {
  if (url !== undefined && url.trim() !== '') return readPostUrl(url.trim(), context);
  if (handle !== undefined && id !== undefined) return parsePostParams(handle, id);
  if (handle === undefined && id === undefined) throw missingUrl(url);
  const missing = handle === undefined ? 'handle' : 'id';
  throw new Problem('invalid_params', {
    detail: `The parameter \`${missing}\` is missing; \`handle\` and \`id\` go together.`,
  });
}

function toView({ thread, context, replies, full, userinfo }: Params): PostView {
  return { thread, context, replies, full, userDetail: userinfo ?? (full ? 'author' : 'off') };
}

function toPlan(post: PostReference, view: PostView, useCache: boolean): Plan {
  const thread = view.thread !== 'off';
  const replies = thread && view.context === 'full' ? view.replies : 'off';
  return toPostPlan(post, { thread, replies, useCache });
}

function assemble(answer: Answer, view: PostView, { baseUrl }: PlanContext): PostResult {
  const found = postIn(answer);
  const arranged = arrangePosts(found, view);
  const fetchedAt = toIsoSeconds(answer.fetchedAtMs);
  const url = canonicalUrl(found.post) ?? '';
  return {
    kind: 'post',
    url,
    embedUrl: embedUrl(url, baseUrl),
    posts: arranged.posts,
    warnings: [...found.warnings, ...arranged.warnings, ...staleWarnings(answer, fetchedAt)],
    fetchedAt,
    source: answer.source,
    full: view.full,
    userDetail: view.userDetail,
  };
}
