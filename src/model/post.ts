import { z } from 'zod';
import { account, copiedFrom, facet, leftOut } from './account.ts';
import { article } from './article.ts';
import { mediaSet } from './media.ts';
import { count, list, maybeText, optionalText, record } from './record.ts';
import { platform } from './reference.ts';

export type Facet = z.output<typeof facet>;
const postContext = z.enum(['parent', 'post', 'thread', 'reply']);

/** `parent`: before it; `post`: the one asked for; `thread`: its author's continuation; `reply`. */
export type PostContext = z.output<typeof postContext>;

/** A post that cannot be shown (deleted, protected, blocked), in the place of the post. */
export const tombstone = record('Tombstone', {
  type: z.literal('tombstone'),
  id: maybeText,
  url: maybeText,
  text: z.string().describe('A sentence that says what is missing and why.'),
  reason: z.enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable']),
  author: account.nullable(),
  context: postContext.nullable(),
  platform,
});
export type Tombstone = z.output<typeof tombstone>;

const reaction = record('Reaction', {
  name: z.string().describe('The emoji, or the name of one that a server has made.'),
  count: z.number().int(),
  url: optionalText.describe('The picture of an emoji that a server has made.'),
});

/** How many people reacted to a post with an emoji. */
export type Reaction = z.output<typeof reaction>;

const community = record('Community', {
  id: z.string(),
  name: z.string(),
  url: z.string(),
  description: maybeText,
});
export type Community = z.output<typeof community>;

const pollChoice = z
  .object({ label: z.string(), count, percentage: z.number().nullable() })
  .readonly();

const poll = record('Poll', {
  choices: list(pollChoice),
  total_votes: count,
  total_voters: count
    .optional()
    .describe('People who voted; each may have chosen several. Absent where nobody counts them.'),
  ends_at: maybeText.describe('ISO 8601, UTC.'),
});

/** A poll with its result so far. Shares are percent with one decimal; `null` while hidden. */
export type Poll = z.output<typeof poll>;

const card = record('Card', {
  url: z.string(),
  title: z.string().describe('May be empty.'),
  description: maybeText,
  image_url: maybeText,
  image_alt: optionalText.describe('What the picture shows, where the page says so.'),
  provider_name: optionalText.describe('The site: its name, or its domain.'),
  author_name: optionalText.describe('Who wrote the page.'),
  author_url: optionalText,
});

/** The preview of a page that a post links to, as the platform saw that page. */
export type Card = z.output<typeof card>;

/** A post with everything that the provider tells of it. */
export const status = z
  .object({
    type: z.literal('status'),
    id: z.string(),
    url: z
      .string()
      .describe('Its address. With `copied_from` it is what that server says of the original.'),
    copied_from: copiedFrom
      .optional()
      .describe(
        'Present where the post was read from another server than its author’s: nobody has checked that the author wrote it.',
      ),
    text: z.string(),
    facets: list(facet).describe('Sorted by `start`; runs may nest, never cross.'),
    created_at: z.string().describe('ISO 8601, UTC.'),
    created_timestamp: z.number().int().describe('Unix seconds.'),
    edited_at: optionalText.describe(
      'When its author last changed it: ISO 8601, UTC. Absent where nothing says so.',
    ),
    author: account,
    lang: maybeText,
    replies: count,
    reposts: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    reactions: list(reaction)
      .optional()
      .describe('Reactions by emoji, the most frequent first, on servers that have them.'),
    source: maybeText.describe('The client it was written with.'),
    tags: list(z.string())
      .optional()
      .describe('Hashtags that are not in `text`, without `#`. Absent where there are none.'),
    community: community.optional().describe('The community that the post was written in.'),
    possibly_sensitive: z.boolean(),
    content_warning: maybeText.describe(
      'What the author, or a label, says that a reader should know before the text.',
    ),
    replying_to: z
      .object({ screen_name: maybeText, status: maybeText, url: maybeText })
      .readonly()
      .nullable(),
    get quote() {
      return z.discriminatedUnion('type', [status, tombstone]).nullable();
    },
    reposted_by: account.nullable(),
    media: mediaSet,
    poll: poll.nullable(),
    article: article.nullable(),
    card: card.nullable().describe('The preview of a page that the post links to.'),
    community_note: maybeText,
    left_out: leftOut,
    context: postContext.nullable(),
    platform,
  })
  .meta({ id: 'Status' });

/** A post that can be shown. */
export type Status = Readonly<z.output<typeof status>>;

/** A post, or the placeholder of one that cannot be shown. */
export const post = z.discriminatedUnion('type', [status, tombstone]).meta({ id: 'Post' });
export type Post = Status | Tombstone;

/**
 * Returns the address under which a post was read: that of the copy, where it is one, since only the
 * author's own server can vouch for the original.
 */
export const canonicalUrl = (post: Post): string | null =>
  post.type === 'status' ? (post.copied_from?.url ?? post.url) : post.url;
