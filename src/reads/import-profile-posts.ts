import { z } from 'zod';
import { Problem } from '../core/problem.ts';
import type { HistoryQuery } from '../fetching/histories/history-query.ts';
import { historyFormats, historyReply } from '../model/history.ts';
import { handleParam, toAccountReference } from './browse.ts';
import { warnOfMisspelt } from './misspelt.ts';
import {
  moment,
  optionalChoice,
  parseParameters,
  refuseEmptyRange,
  truth,
  wholeNumber,
} from './parameters.ts';
import type { ReadAbout } from './read.ts';

const defaultPosts = 500;
const mostPosts = 5000;

const params = z.object({
  handle: handleParam,
  since: moment().describe('Only posts from this moment on.'),
  until: moment().describe('Only posts from before this moment.'),
  max_posts: wholeNumber(mostPosts)
    .default(defaultPosts)
    .describe(`The most posts, 1 to ${mostPosts}: the newest ones of the range.`),
  with_replies: truth(true).describe('Whether the account’s replies to others are in it.'),
  with_reposts: truth(true).describe(
    'Whether what the account reposted is in it, as the original post.',
  ),
  only_replies: truth(false).describe(
    'The account’s replies to others alone, without its other posts and its reposts.',
  ),
  index: truth(false).describe('Gives the ids, addresses and times of the posts alone.'),
  nocache: truth(false).describe(
    'Asks the source for all of it, also for what the server may keep from an earlier import.',
  ),
  format: optionalChoice('invalid_format', historyFormats).describe(
    'Where it is left out, `json`, or `ndjson` where `Accept` prefers it.',
  ),
});

type Params = z.output<typeof params>;

/** Reads all posts of an account in a range of time, which can be sent as a stream. */
export const importProfilePosts = {
  name: 'importProfilePosts',
  summary: 'Imports all posts of an account in a range of time, in one request.',
  tool: null,
  isBrowse: true,
  params,
  requires: [],
  reply: historyReply,
  /** Understands the parameters of a request; throws Problem 400. Pure. */
  understand: (given: Readonly<Record<string, unknown>>) => {
    const parsed = parseParameters(params, given);
    refuseContradictions(parsed, given);
    const warnings = warnOfMisspelt(Object.keys(params.shape), given);
    return { query: toQuery(parsed), format: parsed.format, warnings };
  },
} satisfies ReadAbout & Record<string, unknown>;

function refuseContradictions(
  { since, until, only_replies: only, with_replies: replies, with_reposts: reposts }: Params,
  given: Readonly<Record<string, unknown>>,
): void {
  refuseEmptyRange(since, until);
  if (only && !replies) {
    throw new Problem('invalid_option', {
      detail:
        'The parameter `only_replies` asks for nothing but what `with_replies=false` leaves out.',
    });
  }
  if (only && reposts && given.with_reposts !== undefined) {
    throw new Problem('invalid_option', {
      detail:
        'The parameter `with_reposts` asks for reposts, which `only_replies=true` leaves out.',
    });
  }
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
