import * as z from 'zod';
import type { HistoryQuery } from '../fetching/histories/history-result.ts';
import { Problem } from '../lib/problem.ts';
import { historyFormats, historyReply } from '../model/history.ts';
import { isFeedFormat } from '../model/results.ts';
import { handleParam, toAccountReference } from './list.ts';
import { warnAboutMisspelt } from './misspelt.ts';
import {
  flag,
  optionalChoice,
  parseParameters,
  refuseEmptyRange,
  timestamp,
  toReplyUrl,
  wholeNumber,
} from './parameters.ts';
import type { ReadAbout } from './read.ts';

const defaultPosts = 500;
const maxPosts = 5000;

const params = z.object({
  handle: handleParam,
  since: timestamp('Only posts at or after this time'),
  until: timestamp('Only posts before this time'),
  max_posts: wholeNumber(maxPosts)
    .default(defaultPosts)
    .describe(
      `Maximum number of posts, 1 to ${maxPosts}. If the range has more, the response contains the newest.`,
    ),
  with_replies: flag(true).describe('Includes the account’s replies to others.'),
  with_reposts: flag(true).describe(
    'Includes reposts: posts that the account reposted, with their original author and time.',
  ),
  only_replies: flag(false).describe(
    'Whether to return only the account’s replies to other accounts, without its other posts and its reposts.',
  ),
  index: flag(false).describe('Whether to return only the ids, URLs and times of the posts.'),
  nocache: flag(false).describe(
    'Reads all posts from the platform, and ignores posts that Perch has stored for earlier requests.',
  ),
  format: optionalChoice('invalid_format', historyFormats).describe(
    'Default: the format that `Accept` prefers, or `json`. `atom`, `rss` and `jsonfeed` are feeds.',
  ),
});

type Params = z.output<typeof params>;

/** Read of all posts of an account in a time range. The response can be a stream. */
export const importProfilePosts = {
  name: 'importProfilePosts',
  title: 'Get all posts of an account in a date range',
  topic: 'history',
  summary: 'Imports all posts of an account in a range of time, in one request.',
  tool: null,
  isBrowse: true,
  params,
  requires: [],
  reply: historyReply,
  /** Parses parameters without side effects. @throws Problem with status 400 if they are invalid */
  parse: (given: Readonly<Record<string, unknown>>) => {
    const parsed = parseParameters(params, given);
    refuseContradictions(parsed, given);
    const warnings = warnAboutMisspelt(Object.keys(params.shape), given);
    const query = toQuery(parsed);
    return { query, format: parsed.format, warnings, toUrl: createToUrl(parsed, query) };
  },
} satisfies ReadAbout & Record<string, unknown>;

function refuseContradictions(
  {
    since,
    until,
    index: isIndex,
    format,
    only_replies: only,
    with_replies: replies,
    with_reposts: reposts,
  }: Params,
  given: Readonly<Record<string, unknown>>,
): void {
  refuseEmptyRange(since, until);
  if (isIndex && format !== undefined && isFeedFormat(format)) {
    const detail = `The parameter \`format\` has the value "${format}", but \`index=true\` leaves out the content of the posts.`;
    throw new Problem('invalid_option', { detail, param: 'format' });
  }
  if (only && !replies) {
    const detail =
      'The parameter `only_replies` requests replies, which `with_replies=false` leaves out.';
    throw new Problem('invalid_option', { detail, param: 'only_replies' });
  }
  if (only && reposts && given.with_reposts !== undefined) {
    const detail =
      'The parameter `with_reposts` requests reposts, which `only_replies=true` leaves out.';
    throw new Problem('invalid_option', { detail, param: 'with_reposts' });
  }
}

function createToUrl(parsed: Params, { account }: HistoryQuery) {
  const path = `/profiles/${encodeURIComponent(account.handle)}/posts`;
  return (untilSeconds: number | null, baseUrl: string): string => {
    const changed = { handle: undefined, until: untilSeconds ?? undefined };
    return toReplyUrl(params, { ...parsed, ...changed }, { baseUrl, path });
  };
}

function toQuery(params: Params): HistoryQuery {
  const { only_replies: onlyReplies } = params;
  return {
    account: toAccountReference(params.handle),
    sinceSeconds: params.since ?? null,
    untilSeconds: params.until ?? null,
    maxPosts: params.max_posts,
    withReplies: params.with_replies,
    withReposts: params.with_reposts && !onlyReplies,
    onlyReplies,
    useStored: !params.nocache,
    isIndex: params.index,
  };
}
