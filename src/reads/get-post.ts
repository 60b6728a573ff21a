import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import { postSubject } from '../fetching/cache/subjects.ts';
import { type Answer, type Plan, postIn } from '../fetching/plan.ts';
import { embedUrl } from '../model/addresses/urls.ts';
import { canonicalUrl, type Post } from '../model/post.ts';
import type { PostQuery } from '../model/queries.ts';
import { type PostReference, parsePostParams } from '../model/reference.ts';
import { type PostResult, postFormats } from '../model/results.ts';
import { parsePostUrl } from './addresses/post-address.ts';
import { choice, flag, freeText, optionalChoice, threadMode } from './parameters.ts';
import { arrangePosts, type PostView } from './post-view.ts';
import { createRead, type PlanContext, type ReadPlan, staleWarnings } from './read.ts';

const params = z.object({
  url: freeText('invalid_url').optional().describe('The URL of the post.'),
  handle: freeText('invalid_params')
    .optional()
    .describe('Handle of the post’s author, sent together with `id`. Ignored if `url` is given.'),
  id: freeText('invalid_params')
    .optional()
    .describe('Id of the post, sent together with `handle`. Ignored if `url` is given.'),
  thread: threadMode()
    .default('full')
    .describe(
      'Parts of the thread to return. `off`: only the post. `full`: the post with its thread. `conversation`: the post with its thread and all replies that the source returns. 2 to 100: maximum number of posts of the thread.',
    ),
  context: choice('invalid_context', ['full', 'thread'])
    .default('full')
    .describe(
      'Posts to return. `full`: posts of all authors. `thread`: only consecutive posts of the same author, without replies.',
    ),
  replies: choice('invalid_replies', ['top', 'recent', 'off'])
    .default('top')
    .describe(
      'Order of the replies. `top`: the most liked first. `recent`: the newest first. `off`: no replies.',
    ),
  userinfo: optionalChoice('invalid_userinfo', ['off', 'author', 'all']).describe(
    'Profiles that the Markdown includes. Default: `author` with `full=true`, otherwise `off`.',
  ),
  full: flag(false).describe(
    'Adds details to posts in Markdown and HTML: the exact time, the language, and the counts of quotes, bookmarks and reactions.',
  ),
  nocache: flag(false).describe('Fetches new data instead of using the response cache.'),
  format: optionalChoice('invalid_format', postFormats).describe(
    'Default: the format that `Accept` prefers, or `markdown`. `obsidian` adds YAML front matter. `html` is a web page. `atom`, `rss` and `jsonfeed` are feeds.',
  ),
});

type Params = z.output<typeof params>;

export const getPost = createRead(
  {
    name: 'getPost',
    summary: 'Reads a public post with its thread and replies.',
    tool: 'get_post',
    kind: 'post',
    isBrowse: false,
    params,
  },
  parse,
);

function parse(given: Params, context: PlanContext): ReadPlan {
  const { thread, replies, full, userinfo, nocache, format } = given;
  const userDetail = userinfo ?? (full ? 'author' : 'off');
  const view = { thread, context: given.context, replies, full, userDetail };
  const hasReplies = thread !== 'off' && view.context === 'full';
  const post = toReference(given, context);
  return {
    plan: {
      ...toPostPlan(post, {
        thread: thread !== 'off',
        replies: hasReplies ? replies : 'off',
        useCache: !nocache,
      }),
      param: isUrlGiven(given) ? 'url' : 'handle',
    },
    format,
    hasFeeds: true,
    // The data is the same for each handle, but a warning names the handle.
    view: `${thread} ${view.context} ${full} ${userDetail} ${post.handle}`,
    assemble: (answer) => {
      const result = assemble(answer, view, context);
      const warnings = warnAboutAuthor(post, postIn(answer).post);
      return { ...result, warnings: [...warnings, ...result.warnings] };
    },
  };
}

export function toPostPlan(
  post: PostReference,
  { thread, replies, useCache }: Pick<PostQuery, 'thread' | 'replies'> & Pick<Plan, 'useCache'>,
): Plan {
  const subject = postSubject(post);
  const query: PostQuery = { kind: 'post', post, thread, replies };
  return { query, subject, key: `${subject} ${thread} ${replies}`, freshness: 'post', useCache };
}

const isUrlGiven = ({ url = '' }: Params): boolean => url.trim() !== '';

function toReference(given: Params, context: PlanContext): PostReference {
  const { url, handle, id } = given;
  if (url !== undefined && isUrlGiven(given)) return parsePostUrl(url.trim(), context);
  if (handle !== undefined && id !== undefined) return parsePostParams(handle, id);
  if (handle === undefined && id === undefined) throw missingUrl(url);
  const missing = handle === undefined ? 'handle' : 'id';
  const detail = `The parameter \`${missing}\` is missing. Send \`handle\` and \`id\` together.`;
  throw new Problem('invalid_params', { detail, param: missing });
}

export function missingUrl(url: string | undefined): Problem {
  const fault = url === undefined ? 'is missing' : 'is empty';
  return new Problem('missing_url', { detail: `The parameter \`url\` ${fault}.` });
}

function assemble(answer: Answer, view: PostView, context: PlanContext): PostResult {
  const { baseUrl } = context;
  const found = postIn(answer);
  const arranged = arrangePosts(found, view);
  const fetchedAt = toIsoSeconds(answer.fetchedAtMs);
  const url = canonicalUrl(found.post) ?? '';
  const self = toSelfUrl(url, view, baseUrl);
  return {
    kind: 'post',
    url,
    embedUrl: embedUrl(url, baseUrl),
    urls: { self, first: self, previous: null },
    freshSeconds: context.embedSeconds,
    posts: arranged.posts,
    warnings: [...found.warnings, ...arranged.warnings, ...staleWarnings(answer, fetchedAt)],
    fetchedAt,
    source: answer.source,
    full: view.full,
    userDetail: view.userDetail,
  };
}

/**
 * Returns a warning if the handle in a request is not the handle of the post's author. Only on X and in the sample does
 * the id alone identify a post.
 */
function warnAboutAuthor({ platform, handle }: PostReference, post: Post): readonly string[] {
  if (handle === null || (platform !== 'x' && platform !== 'sample')) return [];
  if (post.author === null || post.author.screen_name.toLowerCase() === handle) return [];
  const own = `The author of this post is @${post.author.screen_name}, not @${handle}.`;
  return [platform === 'x' ? `${own} The account may have changed its handle.` : own];
}

/** Returns the v1 URL of a post, with the parameters that differ from their defaults. */
function toSelfUrl(url: string, view: PostView, baseUrl: string): string {
  const { thread, context, replies, full, userDetail } = view;
  const hasReplies = thread !== 'off' && context === 'full';
  const query = new URLSearchParams({
    url,
    ...(thread !== 'full' && { thread: String(thread) }),
    ...(context !== 'full' && { context }),
    ...(hasReplies && replies !== 'top' && { replies }),
    ...(full && { full: 'true' }),
    ...(userDetail !== (full ? 'author' : 'off') && { userinfo: userDetail }),
  });
  return `${baseUrl}/api/v1/posts?${query}`;
}
