import * as z from 'zod';
import { list, optionalText, record } from './record.ts';

const author = record('JsonFeedAuthor', {
  name: z.string(),
  url: optionalText,
  avatar: optionalText,
});

const attachment = record('JsonFeedAttachment', {
  url: z.string(),
  mime_type: z.string(),
  title: optionalText.describe('Description of the attachment by the author of the post.'),
  duration_in_seconds: z.number().int().optional(),
});

const replies = z
  .object({
    in_reply_to: z
      .object({
        id: z
          .string()
          .nullable()
          .describe('Id of the feed item for the post in `in_reply_to`; null if unknown.'),
        url: z.string().nullable(),
      })
      .readonly()
      .optional()
      .describe('Post to which the post of this feed item replies.'),
    replies_url: optionalText.describe('URL of the feed of all replies to the post.'),
    reply_count: z
      .number()
      .int()
      .optional()
      .describe('Number of replies to the post. Present only in the feed of a thread.'),
  })
  .readonly();

export const jsonFeedItem = record('JsonFeedItem', {
  id: z.string().describe('Tag URI (RFC 4151) of the feed item, which never changes.'),
  url: optionalText.describe('URL of the post on its platform.'),
  title: z.string(),
  content_html: z.string(),
  image: optionalText,
  date_published: z.string().describe('Time of the post: ISO 8601, UTC.'),
  date_modified: z
    .string()
    .describe(
      'Time of the last edit: ISO 8601, UTC. For a post without edits, this is the time of the post.',
    ),
  authors: list(author),
  tags: list(z.string()).optional(),
  attachments: list(attachment).optional(),
  _perch: replies.optional(),
});
export type JsonFeedItem = z.output<typeof jsonFeedItem>;

/** List of posts in the format JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/). */
export const jsonFeed = record('JsonFeed', {
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: z.string(),
  home_page_url: z.string(),
  feed_url: z.string(),
  description: optionalText,
  next_url: optionalText.describe('URL of the next page of the feed.'),
  icon: optionalText,
  authors: list(author).optional(),
  _perch: z
    .object({
      id: z.string().describe('Tag URI (RFC 4151) of the feed, the same on all pages.'),
      first_url: optionalText,
      previous_url: optionalText,
    })
    .readonly(),
  items: list(jsonFeedItem),
});
export type JsonFeed = z.output<typeof jsonFeed>;
