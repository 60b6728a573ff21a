import { z } from 'zod';
import { openEnum } from '../core/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { list, nullableText as moment, optionalText, record } from './record.ts';
import { feedFormats, sourceNames } from './results.ts';

export const historyFormats = ['json', 'ndjson', ...feedFormats] as const;
export type HistoryFormat = (typeof historyFormats)[number];

const range = record('HistoryRange', {
  since: moment.describe(
    'Start of the range: ISO 8601, UTC; null if the range starts with the first post of the account.',
  ),
  until: moment.describe('End of the range, exclusive: ISO 8601, UTC; null if the range ends now.'),
});

const historyIndexEntry = record('HistoryIndexEntry', {
  id: z.string(),
  url: z.string(),
  created_at: z
    .string()
    .describe(
      'Time at which the post was published: ISO 8601, UTC. For a repost, this is the time of the original post.',
    ),
  created_timestamp: z.number().int().describe('`created_at` in Unix seconds.'),
  repost: z
    .boolean()
    .describe('Whether this is a repost by the account whose history was requested.'),
});
export type HistoryIndexEntry = z.output<typeof historyIndexEntry>;
const historyPost = z.union([post, historyIndexEntry]);

const historyMeta = record('HistoryMeta', {
  // All options of the read, including defaults.
  handle: z
    .string()
    .describe('Handle of the account, in the spelling that the account uses, without `@`.'),
  since: moment.describe('Parameter `since`: ISO 8601, UTC; null if it was omitted.'),
  until: moment.describe('Parameter `until`: ISO 8601, UTC; null if it was omitted.'),
  max_posts: z.number().int(),
  with_replies: z.boolean(),
  with_reposts: z
    .boolean()
    .describe('Whether reposts are included; always false with `only_replies`.'),
  only_replies: z.boolean(),
  index: z.boolean(),
  nocache: z.boolean(),
  count: z.number().int().describe('Number of posts in the response.'),
  from_archive: z
    .number()
    .int()
    .describe(
      'Number of posts in the response that earlier imports had stored (`PERCH_ARCHIVE_HISTORY`).',
    ),
  oldest: moment.describe(
    'Time of the last post in the response: ISO 8601, UTC; null if there are no posts. For a repost, this is the time of the post above it in the timeline.',
  ),
  newest: moment.describe(
    'Time of the first post in the response: ISO 8601, UTC; null if there are no posts.',
  ),
  truncated: z
    .boolean()
    .describe(
      'Whether Perch did not read the whole range, because of `max_posts`, a timeout, or a failure.',
    ),
  floor_reached: z.boolean().describe('Whether the range contains no posts older than `oldest`.'),
  next_until: optionalText.describe(
    'Value of `until` for a request that continues a truncated import. The first posts of the next response may repeat posts of this response.',
  ),
  gaps: list(range).describe(
    'Parts of the range that Perch did not read because of a failure or a timeout, newest first.',
  ),
  uncertain: list(range).describe(
    'Parts of the range in which posts may be missing, because the source repeatedly sent fewer posts than expected.',
  ),
  pages: z.number().int().describe('Number of pages requested from the source.'),
  duration_ms: z.number().int().describe('Duration of the import in milliseconds.'),
});
export type HistoryMeta = z.output<typeof historyMeta>;

const about = {
  warnings: list(z.string()).describe('Sentences about missing or unusual content.'),
  source: openEnum(sourceNames, 'Provider that answered.'),
  fetched_at: z.string().describe('Start time of the import: ISO 8601, UTC.'),
};

export const historyReply = record('HistoryReply', {
  resource: openEnum(['history'], 'Kind of the response.'),
  handle: z.string().describe('Handle of the account, without `@`.'),
  profile: account.optional(),
  posts: list(historyPost).describe(
    'Posts in the order of the timeline, newest first. If the parameter `index` is true, the items are index entries instead of full posts.',
  ),
  meta: historyMeta,
  ...about,
});
export type HistoryReply = z.output<typeof historyReply>;
export const historyPostLine = record('HistoryPostLine', { post: historyPost });
export type HistoryPostLine = z.output<typeof historyPostLine>;

/** Last line of a history (all posts of an account) in NDJSON. An incomplete response lacks this line. */
export const historyMetaLine = record('HistoryMetaLine', {
  meta: historyMeta.unwrap().extend(about).readonly(),
});
export type HistoryMetaLine = z.output<typeof historyMetaLine>;
