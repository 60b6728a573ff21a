import * as z from 'zod';
import { openEnum } from '../lib/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { list, nullableText as moment, optionalText, record } from './record.ts';
import { feedFormats, sourceNames } from './results.ts';

export const historyFormats = ['json', 'ndjson', ...feedFormats] as const;
export type HistoryFormat = (typeof historyFormats)[number];

const range = record('HistoryRange', {
  since: moment.describe(
    'Start of the time range: ISO 8601, UTC; null if the range starts with the first post of the account.',
  ),
  until: moment.describe(
    'End of the time range, exclusive: ISO 8601, UTC; null if the range ends now.',
  ),
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
    .describe('Whether the entry is a repost by the account whose history was requested.'),
});
export type HistoryIndexEntry = z.output<typeof historyIndexEntry>;
const historyPost = z.union([post, historyIndexEntry]);

const historyMeta = record('HistoryMeta', {
  // All options of the read, including defaults.
  handle: z
    .string()
    .describe('Handle of the account, in the spelling that the account uses, without `@`.'),
  since: moment.describe(
    'Value of the request parameter `since`: ISO 8601, UTC; null if it was omitted.',
  ),
  until: moment.describe(
    'Value of the request parameter `until`: ISO 8601, UTC; null if it was omitted.',
  ),
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
      'Number of posts in the response that Perch had stored when it read earlier histories of the account (`PERCH_ARCHIVE_HISTORY`).',
    ),
  oldest: moment.describe(
    'Time of the last post in the response: ISO 8601, UTC; null if there is no such time. If the last post is a repost, this is the time of the next newer post that is not a repost, because not every source sends the times of reposts.',
  ),
  newest: moment.describe(
    'Time of the first post in the response: ISO 8601, UTC; null if there is no such time. For reposts, see `oldest`.',
  ),
  truncated: z
    .boolean()
    .describe(
      'Whether Perch did not read the whole requested time range, because of `max_posts`, a timeout, or a failure.',
    ),
  floor_reached: z
    .boolean()
    .describe('Whether the requested time range contains no posts older than `oldest`.'),
  next_until: optionalText.describe(
    'Value of `until` for the request that continues a truncated response. The first posts of the next response may repeat posts of this response.',
  ),
  gaps: list(range).describe(
    'Parts of the requested time range that Perch did not read because of a failure or a timeout, newest first.',
  ),
  uncertain: list(range).describe(
    'Parts of the requested time range in which posts may be missing, because the source repeatedly sent fewer posts than expected.',
  ),
  pages: z.number().int().describe('Number of pages requested from the source.'),
  duration_ms: z
    .number()
    .int()
    .describe('Number of milliseconds that Perch took to read the history.'),
});
export type HistoryMeta = z.output<typeof historyMeta>;

const about = {
  warnings: list(z.string()).describe(
    'Sentences for people about parts of the response that are missing, outdated or unusual.',
  ),
  source: openEnum(sourceNames, 'Name of the data provider from which Perch read the history.'),
  fetched_at: z
    .string()
    .describe('Time at which Perch started to read the history: ISO 8601, UTC.'),
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

/** Last NDJSON line of a history. An incomplete response lacks this line. */
export const historyMetaLine = record('HistoryMetaLine', {
  meta: historyMeta.unwrap().extend(about).readonly(),
});
export type HistoryMetaLine = z.output<typeof historyMetaLine>;
