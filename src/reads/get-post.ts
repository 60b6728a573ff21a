import * as z from 'zod';
import { postSubject } from '../fetching/cache/subjects.ts';
import { type Answer, type Plan, postIn } from '../fetching/plan.ts';
import { toIsoSeconds } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import { embedUrl } from '../model/addresses/urls.ts';
import { canonicalUrl, type Post, type PostContext } from '../model/post.ts';
import type { PostFound, PostQuery } from '../model/queries.ts';
import { type PostReference, parsePostParams } from '../model/reference.ts';
import { type PostResult, postFormats, type UserDetail } from '../model/results.ts';
import { parsePostUrl } from './addresses/post-address.ts';
import {
  choice,
  flag,
  freeText,
  optionalChoice,
  type SomeOf,
  textLimit,
  threadMode,
  toReplyUrl,
} from './parameters.ts';
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
      'Parts of the thread to return. `off`: only the post. `full`: the post with its thread. `conversation`: the post with its thread and all replies that the source returns. `whole`: as `conversation`; on the fediverse, read from all servers that took part. 2 to 100: maximum number of posts of the thread.',
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
  max_chars: textLimit(
    'replies are left out from the end, then the posts of the thread that are farthest from the post',
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
    title: 'Get a post',
    topic: 'posts',
    summary: 'Reads a public post with its thread and replies.',
    tool: 'get_post',
    kind: 'post',
    isBrowse: false,
    params,
  },
  parse,
);

function parse(given: Params, context: PlanContext): ReadPlan<typeof params> {
  const { thread, replies, full, userinfo, nocache, format } = given;
  const userDetail = userinfo ?? (full ? 'author' : 'off');
  const view = { thread, context: given.context, replies, full, userDetail };
  const hasReplies = thread !== 'off' && view.context === 'full';
  const post = toReference(given, context);
  const shown = {
    ...given,
    ...{ url: undefined, handle: undefined, id: undefined },
    replies: hasReplies ? replies : undefined,
    userinfo: userDetail === (full ? 'author' : 'off') ? undefined : userDetail,
  };
  return {
    plan: {
      ...toPostPlan(post, {
        thread: toScope(thread),
        replies: hasReplies ? replies : 'off',
        useCache: !nocache,
      }),
      param: isUrlGiven(given) ? 'url' : 'handle',
    },
    format,
    hasFeeds: true,
    // The data is the same for each handle, but a warning names the handle.
    parameters: { ...shown, handle: post.handle ?? undefined },
    assemble: (answer) => assemble(answer, { post, view, parameters: shown }, context),
  };
}

const toScope = (thread: PostView['thread']): PostQuery['thread'] =>
  thread === 'whole' ? thread : thread !== 'off';

export function toPostPlan(
  post: PostReference,
  { thread, replies, useCache }: Pick<PostQuery, 'thread' | 'replies'> & Pick<Plan, 'useCache'>,
): Omit<Plan, 'key'> {
  const query: PostQuery = { kind: 'post', post, thread, replies };
  return { query, subject: postSubject(post), freshness: 'post', useCache };
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

interface RequestedPost {
  readonly post: PostReference;
  readonly view: PostView;
  readonly parameters: SomeOf<Params>;
}

function assemble(
  answer: Answer,
  { post, view, parameters }: RequestedPost,
  context: PlanContext,
): PostResult {
  const { baseUrl } = context;
  const found = postIn(answer);
  const arranged = arrangePosts(found, view);
  const fetchedAt = toIsoSeconds(answer.fetchedAtMs);
  const maxChars = parameters.max_chars;
  const url = canonicalUrl(found.post) ?? '';
  const self = toReplyUrl(params, { ...parameters, url }, { baseUrl, path: '/posts' });
  return {
    kind: 'post',
    url,
    embedUrl: embedUrl(url, baseUrl),
    urls: { self, first: self, previous: null },
    freshSeconds: context.embedSeconds,
    posts: arranged.posts,
    warnings: [
      ...warnAboutAuthor(post, found.post),
      ...found.warnings,
      ...arranged.warnings,
      ...staleWarnings(answer, fetchedAt),
    ],
    fetchedAt,
    source: answer.source,
    full: view.full,
    userDetail: view.userDetail,
    ...(maxChars !== undefined && {
      bound: { maxChars, repliesUrl: toRepliesUrl(referenceTo(found.post) ?? post, baseUrl) },
    }),
  };
}

/** Returns the reference of an object, which may have been asked for as a post of Mastodon. */
function referenceTo({ platform, id }: Post): PostReference | null {
  return platform === 'activitypub' && id !== null ? { platform, handle: null, id } : null;
}

function warnAboutAuthor({ platform, handle }: PostReference, post: Post): readonly string[] {
  if (handle === null || (platform !== 'x' && platform !== 'sample')) return [];
  if (post.author === null || post.author.screen_name.toLowerCase() === handle) return [];
  const own = `The author of this post is @${post.author.screen_name}, not @${handle}.`;
  return [platform === 'x' ? `${own} The account may have changed its handle.` : own];
}

function toRepliesUrl({ platform, handle, id }: PostReference, baseUrl: string): string {
  const isUnique = platform === 'x' || platform === 'activitypub';
  const query = isUnique ? '' : `?handle=${encodeURIComponent(handle ?? '')}`;
  return `${baseUrl}/api/v1/posts/${encodeURIComponent(id)}/replies${query}`;
}

export interface PostView {
  /** Posts of the thread: `conversation` and `whole` are with all replies; a number is a maximum. */
  readonly thread: 'off' | 'full' | 'conversation' | 'whole' | number;
  readonly context: 'full' | 'thread';
  readonly replies: 'top' | 'recent' | 'off';
  readonly full: boolean;
  readonly userDetail: UserDetail;
}

const maxDirectReplies = 20;

/** Returns the posts of `view` in reading order with their `context`, and warnings. */
export function arrangePosts(found: PostFound, view: PostView) {
  const isForeign = ({ author }: Post) => author !== null && author.id !== found.post.author?.id;
  const foreign = found.ancestors.findLastIndex(isForeign); // the author's own consecutive posts follow it
  const chain = cutThread(
    view.context === 'thread' ? found.ancestors.slice(foreign + 1) : found.ancestors,
    found.continuation,
    view.thread,
  );
  const hasAll = view.thread === 'conversation' || view.thread === 'whole';
  const replies = hasAll ? found.replies : shortenReplies(found);
  const withContext = (context: PostContext) => (post: Post) => ({ ...post, context });
  return {
    posts: [
      ...chain.ancestors.map(withContext('parent')),
      withContext('post')(found.post),
      ...chain.continuation.map(withContext('thread')),
      ...replies.map(withContext('reply')),
    ],
    warnings: chain.warnings,
  };
}

function cutThread(
  ancestors: readonly Post[],
  continuation: readonly Post[],
  thread: PostView['thread'],
) {
  const length = ancestors.length + 1 + continuation.length;
  if (typeof thread !== 'number' || length <= thread) {
    return { ancestors, continuation, warnings: [] };
  }
  const after = continuation.slice(0, thread - 1);
  const before = thread - 1 - after.length;
  return {
    ancestors: before === 0 ? [] : ancestors.slice(-before),
    continuation: after,
    warnings: [`The thread has ${length} posts; thread=${thread} shows ${thread} of them.`],
  };
}

function shortenReplies({ post, continuation, replies }: PostFound): readonly Post[] {
  const thread = new Set([post, ...continuation].map(({ id }) => id));
  let direct = 0;
  return replies.filter((reply) => {
    const isDirect = reply.type === 'tombstone' || thread.has(reply.replying_to?.status ?? null);
    if (isDirect) direct += 1;
    if (direct > maxDirectReplies) return false;
    return isDirect || reply.author?.id === post.author?.id;
  });
}
