import type { Status } from '../../model/post.ts';
import type { SearchQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask } from '../provider.ts';
import { countSent } from '../rows.ts';
import { createUnavailable } from './failure.ts';
import type { Home } from './identity.ts';
import { dropLater, readBefore } from './jump.ts';
import type { StatusPayload } from './payload.ts';
import { type PageRows, readPosts, shapeListed, tellUnread, toLimit, writeCursor } from './rows.ts';
import type { FoundReply, Servers } from './servers.ts';

/** What searches are asked of. */
export interface SearchOptions {
  readonly servers: Servers;
  readonly host: string;
}

/** What a search text asks for: posts with all of some hashtags, and without others. */
interface TagSearch {
  readonly all: readonly string[];
  readonly none: readonly string[];
}

/** Makes the search of posts, which without a login is one of hashtags (Mastodon, section 2). */
export function askSearch({ servers, host }: SearchOptions): Ask<'search'> {
  const home: Home = { host, domain: host };
  return async (query, context) => {
    const tags = parseTags(query.text);
    const page = await readBefore(query, async (cursor) => {
      const reply = await servers.get(host, toPath(tags, { ...query, cursor }), context);
      return readPosts(expectFound(reply), toLimit(query.count), context);
    });
    const listed = await shapeListed(dropLater(page.rows, query.untilSeconds), home, context);
    return {
      items: listed.posts.filter((post) => isWanted(post, query)),
      cursor: isPast(page, query) ? null : page.next,
      rows: countSent(page),
      warnings: [
        tellTags(host),
        ...tellFeed(query),
        ...listed.warnings,
        ...tellUnread(page, 'post'),
      ],
    };
  };
}

/** The most hashtags that servers take beside the first, and the most to leave out. */
const maxFurther = 4;

/** As Mastodon writes them: letters, digits and underscores, and a few signs within. */
const tagForm = /^(-?)[#＃]([\p{L}\p{M}\p{N}_·・]{1,100})$/u;

/** @throws ProviderError `rejected` for a text that is more than hashtags */
function parseTags(text: string): TagSearch {
  const found = text
    .trim()
    .split(/\s+/)
    .map((word) => tagForm.exec(word));
  const named = (sign: string) =>
    found.flatMap((match) => (match?.[1] === sign && match[2] !== undefined ? [match[2]] : []));
  const [all, none] = [named(''), named('-')];
  if (found.includes(null) || all.length === 0) {
    throw new ProviderError(
      'rejected',
      'Mastodon has no search of posts without a login. It lists those with a hashtag: search for `#tag`, for `#one #two` with both, or for `#one -#two` without the second.',
    );
  }
  if (all.length > maxFurther + 1 || none.length > maxFurther) {
    throw new ProviderError(
      'rejected',
      `Mastodon lists posts with at most ${maxFurther + 1} hashtags, and without at most ${maxFurther}.`,
    );
  }
  return { all, none };
}

function toPath({ all, none }: TagSearch, { count, cursor, feed }: SearchQuery): string {
  const [first = '', ...further] = all;
  const parameters = [
    `limit=${toLimit(count)}`,
    ...further.map((tag) => `all[]=${encodeURIComponent(tag)}`),
    ...none.map((tag) => `none[]=${encodeURIComponent(tag)}`),
    ...(isOfMedia(feed) ? ['only_media=true'] : []),
    ...writeCursor(cursor),
  ];
  return `/api/v1/timelines/tag/${encodeURIComponent(first)}?${parameters.join('&')}`;
}

/**
 * Gives what a server found.
 *
 * @throws ProviderError where it has no such search
 */
export function expectFound(reply: Awaited<ReturnType<Servers['get']>>): FoundReply {
  switch (reply.is) {
    case 'found':
      return reply;
    case 'no api':
      throw reply.failure;
    case 'absent':
    case 'suspended':
      throw createUnavailable('The server that searches are asked of does not offer this search.');
  }
}

function isOfMedia(feed: SearchQuery['feed']): feed is 'photos' | 'videos' {
  return feed === 'photos' || feed === 'videos';
}

function isWanted(
  { created_timestamp, media }: Status,
  { feed, sinceSeconds }: SearchQuery,
): boolean {
  if (sinceSeconds !== null && created_timestamp < sinceSeconds) return false;
  return !isOfMedia(feed) || media[feed].length > 0;
}

/** What was written before the beginning of the time ends the list, unless it came late to the server. */
function isPast({ rows }: PageRows<StatusPayload>, { sinceSeconds }: SearchQuery): boolean {
  if (sinceSeconds === null || rows.length === 0) return false;
  return rows.every(({ createdMs }) => createdMs < sinceSeconds * 1000);
}

function tellTags(host: string): string {
  return `Mastodon has no search of posts without a login; these are the posts that ${host} knows with these hashtags.`;
}

function tellFeed({ feed }: SearchQuery): readonly string[] {
  if (feed === 'top') return ['Mastodon ranks no posts; these are the newest.'];
  if (!isOfMedia(feed)) return [];
  return [
    `Mastodon has no list of ${feed}; these are the posts with ${feed} among those with media.`,
  ];
}
