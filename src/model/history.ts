import { z } from 'zod';
import { openText } from '../core/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { list, maybeText as moment, optionalText, record } from './record.ts';
import { sourceNames } from './results.ts';

export const historyFormats = ['json', 'ndjson'] as const;
export type HistoryFormat = (typeof historyFormats)[number];

const range = record('HistoryRange', {
  since: moment.describe('ISO 8601, UTC; null where it goes down to the first post.'),
  until: moment.describe('ISO 8601, UTC, not included; null where it goes up to now.'),
});

const historyIndexEntry = record('HistoryIndexEntry', {
  id: z.string(),
  url: z.string(),
  created_at: z.string().describe('ISO 8601, UTC; of a repost, when the original was written.'),
  created_timestamp: z.number().int().describe('The same in Unix seconds.'),
  repost: z.boolean().describe('True for a post that the account reposted.'),
});
export type HistoryIndexEntry = z.output<typeof historyIndexEntry>;
const historyPost = z.union([post, historyIndexEntry]);

const historyMeta = record('HistoryMeta', {
  // The options that the history was read with, those that were not given included.
  handle: z.string().describe('The account, as it writes its handle, without `@`.'),
  since: moment.describe('The parameter of that name: ISO 8601, UTC; null without one.'),
  until: moment.describe('The parameter of that name; null without one.'),
  max_posts: z.number().int(),
  with_replies: z.boolean(),
  with_reposts: z.boolean().describe('False with `only_replies`, whatever was asked for.'),
  only_replies: z.boolean(),
  index: z.boolean(),
  nocache: z.boolean(),
  count: z.number().int().describe('How many posts were given.'),
  from_archive: z
    .number()
    .int()
    .describe('How many of them were kept from earlier imports (`PERCH_ARCHIVE_HISTORY`).'),
  oldest: moment.describe(
    'The place of the last one: ISO 8601, UTC. A repost has that of the post above it. Null without posts.',
  ),
  newest: moment.describe('The place of the first one.'),
  truncated: z
    .boolean()
    .describe('True where the range was not read to its end: `max_posts`, time, or a failure.'),
  floor_reached: z
    .boolean()
    .describe('True where nothing older is in the range: it was read down to its beginning.'),
  next_until: optionalText.describe(
    'The `until` with which a truncated import goes on; its first posts may be known.',
  ),
  gaps: list(range).describe(
    'What was not read because of a failure or for lack of time, newest first.',
  ),
  uncertain: list(range).describe(
    'What may lack posts: the source sent less than it should however often it was asked.',
  ),
  pages: z.number().int().describe('How many pages the source was asked for.'),
  duration_ms: z.number().int().describe('Milliseconds that it took.'),
});
export type HistoryMeta = z.output<typeof historyMeta>;

const about = {
  warnings: list(z.string()).describe('What the reader should know; often empty.'),
  source: openText(sourceNames, 'The provider that answered.'),
  fetched_at: z.string().describe('When the import began: ISO 8601, UTC.'),
};

export const historyReply = record('HistoryReply', {
  resource: openText(['history'], 'What was read.'),
  handle: z.string().describe('Whose posts they are, without `@`.'),
  profile: account.optional(),
  posts: list(historyPost).describe(
    'In the order of the timeline, newest first. With `index`, entries of an index.',
  ),
  meta: historyMeta,
  ...about,
});
export type HistoryReply = z.output<typeof historyReply>;
export const historyPostLine = record('HistoryPostLine', { post: historyPost });
export type HistoryPostLine = z.output<typeof historyPostLine>;

/** The last line of a stream that came to its end. */
export const historyMetaLine = record('HistoryMetaLine', {
  meta: historyMeta.unwrap().extend(about).readonly(),
});
export type HistoryMetaLine = z.output<typeof historyMetaLine>;
