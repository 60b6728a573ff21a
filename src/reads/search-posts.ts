import { z } from 'zod';
import { Problem } from '../core/problem.ts';
import type { ListQuery } from '../fetching/lists/browse-query.ts';
import { type SearchPlatform, searchPlatforms } from '../model/reference.ts';
import { browseReply, type Feed, feeds } from '../model/results.ts';
import { type BrowseTarget, listParams, understandPage } from './browse.ts';
import { choice, freeText, moment, parseParameters, printMoment, truth } from './parameters.ts';
import type { PlanContext, Read } from './read.ts';

/** The most characters of a search text, in code points. */
const maxQuery = 512;

/** The parameters of a search. */
const searchPostsParams = z.object({
  q: freeText('invalid_query')
    .optional()
    .describe('The search text, 1 to 512 characters. Operators pass through to the platform.'),
  feed: choice('invalid_feed', [...feeds, 'media'])
    .default('latest')
    .describe('`media` is another name of `photos`; `users` finds accounts.'),
  since: moment().optional().describe('Only posts from this moment on.'),
  until: moment().optional().describe('Only posts from before this moment.'),
  platform: choice('invalid_option', searchPlatforms)
    .optional()
    .describe(
      'What is searched: a platform, `archive` for what was imported into this server, or `sample` for its made-up posts. Where it is left out, the first provider’s platform that can be searched.',
    ),
  require_live: truth()
    .default(false)
    .describe('`true`: 503 `upstream_unavailable` in place of results that are not live.'),
  ...listParams,
});

type Params = z.output<typeof searchPostsParams>;

/** Searches posts, or accounts. */
export const searchPosts: Read = {
  name: 'searchPosts',
  summary: 'Searches public posts, or accounts with `feed=users`.',
  tool: 'search',
  kind: 'browse',
  isBrowse: true,
  params: searchPostsParams,
  requires: ['q'],
  reply: browseReply,
  understand: (given, context) => {
    const params = parseParameters(searchPostsParams, given);
    return understandPage(toTarget(params, context), params, context);
  },
};

interface Search {
  readonly platform: SearchPlatform;
  readonly text: string;
  readonly feed: Feed;
  readonly sinceSeconds: number | null;
  readonly untilSeconds: number | null;
}

function toTarget(params: Params, { searchPlatform }: PlanContext): BrowseTarget {
  const search = toSearch(params, searchPlatform);
  const { platform, text, feed, sinceSeconds, untilSeconds } = search;
  const { require_live: isLiveOnly } = params;
  const options = [sinceSeconds, untilSeconds, ...(isLiveOnly ? ['live'] : [])];
  return {
    subject: { resource: 'search', query: text, feed },
    cacheSubject: `search ${platform}`,
    profile: null,
    list: toList(search),
    // What was not live must answer neither a later page nor from the cache.
    identity: ['search', platform, feed, text, ...options],
    path: '/search',
    parameters: {
      q: text,
      feed: feed === 'latest' ? undefined : feed,
      since: printMoment(sinceSeconds),
      until: printMoment(untilSeconds),
      platform,
      require_live: isLiveOnly ? 'true' : undefined,
    },
    freshness: 'search',
    isLiveOnly,
  };
}

function toSearch(params: Params, byDefault: SearchPlatform): Search {
  const { feed, since, until } = params;
  refuseMoments({ feed, since, until });
  return {
    platform: params.platform ?? byDefault,
    text: toText(params.q),
    feed: feed === 'media' ? 'photos' : feed,
    sinceSeconds: since ?? null,
    untilSeconds: until ?? null,
  };
}

function toText(q: string | undefined): string {
  const text = q?.trim() ?? '';
  if (text === '') {
    throw new Problem('missing_query', {
      detail: `The parameter \`q\` ${q === undefined ? 'is missing' : 'is empty'}; it takes the search text.`,
    });
  }
  const length = [...text].length;
  if (length > maxQuery) {
    throw new Problem('invalid_query', {
      detail: `The parameter \`q\` has ${length} characters; it takes 1 to ${maxQuery}.`,
    });
  }
  return text;
}

function refuseMoments({ feed, since, until }: Pick<Params, 'feed' | 'since' | 'until'>): void {
  const given = since === undefined ? 'until' : 'since';
  if (feed === 'users' && (since !== undefined || until !== undefined)) {
    throw new Problem('invalid_option', {
      detail: `The parameter \`${given}\` does not go with \`feed=users\`: accounts have no such time.`,
    });
  }
  if (since !== undefined && until !== undefined && since >= until) {
    throw new Problem('invalid_option', {
      detail: 'The parameter `since` is not before `until`; no post can be in between.',
    });
  }
}

function toList({ platform, text, feed, sinceSeconds, untilSeconds }: Search): ListQuery {
  if (feed === 'users') return { kind: 'searchUsers', platform, text };
  return { kind: 'search', platform, text, feed, sinceSeconds, untilSeconds };
}
