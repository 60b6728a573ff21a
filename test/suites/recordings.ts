import { readFixture } from '../support/fixtures.ts';

/** Folders of FxTwitter's replies to the reads of one post. */
export const fxTwitterFolders = ['status', 'thread', 'conversation'].map(
  (folder) => `fxtwitter/${folder}`,
);

/** Returns the id that a recording was requested for: its parameter `id`, or else the end of its path. */
export function idOf(name: string): string {
  const { pathname, searchParams } = new URL(readFixture(name).request.url);
  return searchParams.get('id') ?? pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
}

/** Names of recordings, by the status of a read that gets them. */
type ByStatus = Readonly<Record<number, readonly string[]>>;

/** Recordings by the read that they answer. `unread` has those that no read requests. */
const recordedReads = {
  post: {
    200: [
      'fxtwitter/conversation/1649191520250245121-replies.json',
      'fxtwitter/conversation/1671753569412820992-unrelated-posts-in-replies.json',
      'fxtwitter/conversation/1682072224013099008-author-answers-replies.json',
      'fxtwitter/conversation/20-no-replies.json',
      'fxtwitter/conversation/991202-tombstone-in-ancestors.json',
      'fxtwitter/status/1649191520250245121-thread-root.json',
      'fxtwitter/status/1658409412799737856-is-a-repost.json',
      'fxtwitter/status/1682072224013099008-note-post.json',
      'fxtwitter/status/1841206275088290279-video.json',
      'fxtwitter/status/1848831595014459513-photos-mosaic.json',
      'fxtwitter/status/1899954694652309701-poll.json',
      'fxtwitter/status/20-plain.json',
      'fxtwitter/status/2075503860689281453-article.json',
      'fxtwitter/status/991001-quote-tombstone.json',
      'fxtwitter/thread/1649191520250245121-author-thread.json',
      'fxtwitter/thread/20-single.json',
      'fxtwitter/thread/991202-tombstone-between.json',
      'fxtwitter/v1/status-1848831595014459513-photos.json',
      'fxtwitter/v1/status-20.json',
      'syndication/tweet-link-card.json',
      'syndication/tweet-photo.json',
      'syndication/tweet-with-quoted-tweet.json',
    ],
    404: [
      'fxtwitter/conversation/991503-focal-tombstone.json',
      'fxtwitter/errors/status-401-protected.json',
      'fxtwitter/errors/status-404-deleted-tombstone.json',
      'fxtwitter/status/991500-focal-suspended-tombstone.json',
      'fxtwitter/v1/status-401-protected.json',
      'syndication/tombstone-deleted.json',
    ],
    502: [
      'fxtwitter/errors/301-trailing-slash.json',
      'fxtwitter/errors/401-missing-user-agent.json',
      'fxtwitter/errors/404-unknown-route.json',
      'fxtwitter/v1/status-bad-id-html.json',
    ],
    503: [
      'fxtwitter/errors/500-html-crash.json',
      'fxtwitter/errors/conversation-404.json',
      'fxtwitter/errors/status-400-bad-id.json',
      'fxtwitter/errors/status-404.json',
      'fxtwitter/errors/upstream-down/status-404.json',
      'fxtwitter/v1/status-not-found.json',
      'syndication/empty-object.json',
      'syndication/error-400.json',
      'syndication/error-404-html.json',
      'syndication/error-429-text.json',
      'syndication/tombstone-bare.json',
    ],
  },
  profile: {
    200: [
      'fxtwitter/profile/x-with-about-account.json',
      'fxtwitter/profile/x.json',
      'fxtwitter/profile/xdevelopers.json',
      'fxtwitter/v1/profile-x.json',
    ],
    404: [
      'fxtwitter/profile/not-found.json',
      'fxtwitter/profile/suspended.json',
      'fxtwitter/v1/profile-not-found.json',
    ],
    503: ['fxtwitter/errors/upstream-down/profile-404.json'],
  },
  timeline: {
    // A profile whose posts cannot be read is shown without them.
    200: [
      'fxtwitter/errors/statuses-200-empty.json',
      'fxtwitter/errors/statuses-204-since.json',
      'fxtwitter/errors/statuses-400-count.json',
      'fxtwitter/statuses/xdevelopers-page-grouped.json',
      'fxtwitter/statuses/xdevelopers-page.json',
    ],
    404: ['fxtwitter/errors/statuses-404-unknown-user.json'],
    503: [
      'fxtwitter/errors/upstream-down/statuses-404.json',
      'fxtwitter/errors/upstream-down/statuses-by-id-500.json',
    ],
  },
  connections: {
    200: [
      'fxtwitter/relations/followers-synthetic-small.json',
      'fxtwitter/relations/xdevelopers-followers-page.json',
    ],
  },
  search: {
    200: ['fxtwitter/search/neo-page.json', 'fxtwitter/search/no-results.json'],
    400: [
      'fxtwitter/errors/search-400-empty.json',
      'fxtwitter/errors/search-400-feed.json',
      'fxtwitter/errors/search-400-missing.json',
      'fxtwitter/errors/search-400-rejected-by-x.json',
      'fxtwitter/errors/search-400-too-long.json',
    ],
    503: ['fxtwitter/errors/upstream-down/search-404.json'],
  },
} as const satisfies Readonly<Record<string, ByStatus>>;

/** Kinds of reads. */
export type RecordedRead = keyof typeof recordedReads;

/** Recordings that no read requests. */
export const unread: readonly string[] = ['syndication/oembed-publish-x-com.json'];

/** Lists the recordings of a read, each with the expected status. */
export function listRecorded(read: RecordedRead): readonly (readonly [string, number])[] {
  const table: ByStatus = recordedReads[read];
  return Object.entries(table).flatMap(([status, names]) =>
    names.map((name) => [name, Number(status)] as const),
  );
}
