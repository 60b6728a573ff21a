import * as z from 'zod';
import { Problem } from '../lib/problem.ts';
import { searchPlatforms } from '../model/reference.ts';
import { feeds } from '../model/results.ts';
import { createListRead, type ListTarget, listParams } from './list.ts';
import {
  choice,
  flag,
  freeText,
  optionalChoice,
  refuseEmptyRange,
  timestamp,
} from './parameters.ts';
import type { PlanContext } from './read.ts';

const maxQuery = 512;

const params = z.object({
  q: freeText('invalid_query')
    .optional()
    .describe('The search text, 1 to 512 characters. Search operators are passed to the platform.'),
  feed: choice('invalid_feed', [...feeds, 'media'])
    .default('latest')
    .describe(
      'Kind of results. `latest`: the newest posts. `top`: popular posts. `photos` or `media`: posts with photos. `videos`: posts with videos. `users`: accounts.',
    ),
  since: timestamp('Only posts at or after this time'),
  until: timestamp('Only posts before this time'),
  platform: optionalChoice('invalid_option', searchPlatforms).describe(
    'Posts and accounts to search: those of the platform `x`, `bluesky` or `mastodon`, the imported accounts (`archive`), or the fictional accounts (`sample`). Default: the platform of the first provider in `PERCH_PROVIDERS` that supports searches. `archive` counts only if it is the only provider.',
  ),
  require_live: flag(false).describe(
    'Whether the search fails with 503 `upstream_unavailable` if there are no live results.',
  ),
  ...listParams,
});

type Params = z.output<typeof params>;

export const searchPosts = createListRead(
  {
    name: 'searchPosts',
    title: 'Search posts or accounts',
    topic: 'search',
    summary: 'Searches public posts, or accounts with `feed=users`.',
    tool: 'search',
    isBrowse: true,
    params,
    requires: ['q'],
  },
  toTarget,
);

function toTarget(params: Params, { searchPlatform }: PlanContext): ListTarget<Params> {
  const { platform = searchPlatform, require_live: isLiveOnly } = params;
  const feed = params.feed === 'media' ? 'photos' : params.feed;
  refuseTimeRange(params);
  const text = toText(params.q);
  const sinceSeconds = params.since ?? null;
  const untilSeconds = params.until ?? null;
  return {
    subject: { resource: 'search', query: text, feed },
    cacheSubject: `search ${platform}`,
    list:
      feed === 'users'
        ? { kind: 'searchUsers', platform, text }
        : { kind: 'search', platform, text, feed, sinceSeconds, untilSeconds },
    path: '/search',
    parameters: { ...params, q: text, feed, platform },
    isLiveOnly,
  };
}

function toText(q: string | undefined): string {
  const text = q?.trim() ?? '';
  if (text === '') {
    const detail = `The parameter \`q\` ${q === undefined ? 'is missing' : 'is empty'}.`;
    throw new Problem('missing_query', { detail });
  }
  const length = [...text].length;
  if (length > maxQuery) {
    const detail = `The parameter \`q\` has ${length} characters. The maximum is ${maxQuery}.`;
    throw new Problem('invalid_query', { detail });
  }
  return text;
}

function refuseTimeRange({ feed, since, until }: Params): void {
  if (feed === 'users' && (since !== undefined || until !== undefined)) {
    const given = since === undefined ? 'until' : 'since';
    const detail = `The parameter \`${given}\` cannot be combined with \`feed=users\`, because this parameter applies only to posts.`;
    throw new Problem('invalid_option', { detail, param: given });
  }
  refuseEmptyRange(since, until);
}
