import { z } from 'zod';
import { account } from './account.ts';
import { article } from './article.ts';
import { card } from './card.ts';
import { community } from './community.ts';
import { copiedFrom } from './copied-from.ts';
import { facet } from './facet.ts';
import { leftOut } from './left-out.ts';
import { mediaSet } from './media.ts';
import { poll } from './poll.ts';
import { reaction } from './reaction.ts';
import { platform } from './reference.ts';

/** A marked run of text. */
export type Facet = z.output<typeof facet>;

/** What a post is to the one that was asked for. */
const postContext = z.enum(['parent', 'post', 'thread', 'reply']);

/** `parent`: before it; `post`: the one asked for; `thread`: its author's continuation; `reply`. */
export type PostContext = z.output<typeof postContext>;

const count = z.number().nullable();

/** A post that cannot be shown, standing where it would stand. */
export const tombstone = z
  .object({
    type: z.literal('tombstone'),
    id: z.string().nullable(),
    url: z.string().nullable(),
    text: z.string().describe('A sentence that says what is missing and why.'),
    reason: z.enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable']),
    author: account.nullable(),
    context: postContext.nullable(),
    platform,
  })
  .readonly()
  .meta({ id: 'Tombstone' });

/** A post that cannot be shown. */
export type Tombstone = z.output<typeof tombstone>;

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
    facets: z.array(facet).readonly().describe('Sorted by `start`; runs may nest, never cross.'),
    created_at: z.string().describe('ISO 8601, UTC.'),
    created_timestamp: z.number().int().describe('Unix seconds.'),
    edited_at: z
      .string()
      .optional()
      .describe('When its author last changed it: ISO 8601, UTC. Absent where nothing says so.'),
    author: account,
    lang: z.string().nullable(),
    replies: count,
    reposts: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    reactions: z
      .array(reaction)
      .readonly()
      .optional()
      .describe('Reactions by emoji, the most frequent first, on servers that have them.'),
    source: z.string().nullable().describe('The client it was written with.'),
    tags: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('Hashtags that are not in `text`, without `#`. Absent where there are none.'),
    community: community.optional().describe('The community that the post was written in.'),
    possibly_sensitive: z.boolean(),
    content_warning: z
      .string()
      .nullable()
      .describe('What the author, or a label, says that a reader should know before the text.'),
    replying_to: z
      .object({
        screen_name: z.string().nullable(),
        status: z.string().nullable(),
        url: z.string().nullable(),
      })
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
    community_note: z.string().nullable(),
    left_out: leftOut,
    context: postContext.nullable(),
    platform,
  })
  .meta({ id: 'Status' });

/** A post that can be shown. */
export type Status = Readonly<z.output<typeof status>>;

/** A post, or what stands in its place. */
export const post = z.discriminatedUnion('type', [status, tombstone]).meta({ id: 'Post' });

/** A post, or what stands in its place. */
export type Post = Status | Tombstone;

/**
 * Returns the address under which a post was read: that of the copy, where it is one, since only the
 * author's own server can vouch for the original.
 */
export function canonicalUrl(post: Post): string | null {
  return post.type === 'status' ? (post.copied_from?.url ?? post.url) : post.url;
}
