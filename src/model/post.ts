import { z } from 'zod';
import { account, copiedFrom, facet, leftOut } from './account.ts';
import { article } from './article.ts';
import { mediaSet } from './media.ts';
import { count, list, nullableText, optionalText, record } from './record.ts';
import { platform } from './reference.ts';

export type Facet = z.output<typeof facet>;
const postContext = z.enum(['parent', 'post', 'thread', 'reply']);

/** Role of a post in a conversation: ancestor, requested post, later post of the author's thread, or reply. */
export type PostContext = z.output<typeof postContext>;

/** Placeholder for a post that cannot be shown (deleted, protected, blocked). */
export const tombstone = record('Tombstone', {
  type: z.literal('tombstone'),
  id: nullableText,
  url: nullableText,
  text: z.string().describe('Sentence that explains why the post is missing.'),
  reason: z.enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable']),
  author: account.nullable(),
  context: postContext.nullable(),
  platform,
});
export type Tombstone = z.output<typeof tombstone>;

const reaction = record('Reaction', {
  name: z.string().describe('Emoji, or name of a server’s custom emoji.'),
  count: z.number().int(),
  url: optionalText.describe('URL of the image of a custom emoji.'),
});

export type Reaction = z.output<typeof reaction>;

const community = record('Community', {
  id: z.string(),
  name: z.string(),
  url: z.string(),
  description: nullableText,
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
    .describe('Number of voters, who may have chosen several options. Absent if unknown.'),
  ends_at: nullableText.describe('ISO 8601, UTC.'),
});

/** Poll with its current result. Percentages have one decimal and are `null` while the result is hidden. */
export type Poll = z.output<typeof poll>;

const card = record('Card', {
  url: z.string(),
  title: z.string().describe('May be empty.'),
  description: nullableText,
  image_url: nullableText,
  image_alt: optionalText.describe('Description of the image, if the page has one.'),
  provider_name: optionalText.describe('Name or domain of the site.'),
  author_name: optionalText.describe('Author of the page.'),
  author_url: optionalText,
});

/** Preview of a web page that a post links to, as the platform generated it. */
export type Card = z.output<typeof card>;

export const status = z
  .object({
    type: z.literal('status'),
    id: z.string(),
    url: z
      .string()
      .describe(
        'URL of the post. With `copied_from`, the URL of the original according to that server.',
      ),
    copied_from: copiedFrom
      .optional()
      .describe(
        'Present if the post was read from another server than the author’s. Perch has not verified that the author wrote it.',
      ),
    text: z.string(),
    facets: list(facet).describe('Sorted by `start`. Ranges may nest but never cross.'),
    created_at: z.string().describe('ISO 8601, UTC.'),
    created_timestamp: z.number().int().describe('Unix seconds.'),
    edited_at: optionalText.describe(
      'Time of the author’s last edit: ISO 8601, UTC. Absent if unknown.',
    ),
    author: account,
    lang: nullableText,
    replies: count,
    reposts: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    reactions: list(reaction)
      .optional()
      .describe('Reactions by emoji, the most frequent first, on servers that support them.'),
    source: nullableText.describe('Client that the post was written with.'),
    tags: list(z.string())
      .optional()
      .describe('Hashtags that are not in `text`, without `#`. Absent if there are none.'),
    community: community.optional().describe('Community that the post was published in.'),
    possibly_sensitive: z.boolean(),
    content_warning: nullableText.describe(
      'Content warning by the author or by a moderation label, to show before the text.',
    ),
    replying_to: z
      .object({ screen_name: nullableText, status: nullableText, url: nullableText })
      .readonly()
      .nullable(),
    get quote() {
      return z.discriminatedUnion('type', [status, tombstone]).nullable();
    },
    reposted_by: account.nullable(),
    media: mediaSet,
    poll: poll.nullable(),
    article: article.nullable(),
    card: card.nullable().describe('Preview of a page that the post links to.'),
    community_note: nullableText,
    left_out: leftOut,
    context: postContext.nullable(),
    platform,
  })
  .meta({ id: 'Status' });

export type Status = Readonly<z.output<typeof status>>;

/** Post, or the placeholder for a post that cannot be shown. */
export const post = z.discriminatedUnion('type', [status, tombstone]).meta({ id: 'Post' });
export type Post = Status | Tombstone;

/** Returns the URL of a post. If Perch read a copy from another server (`copied_from`), returns the copy's URL. */
export const canonicalUrl = (post: Post): string | null =>
  post.type === 'status' ? (post.copied_from?.url ?? post.url) : post.url;
