import { z } from 'zod';
import { openText } from '../core/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { list, optionalText, record } from './record.ts';

/** The names of the providers that there are, which tell who answered. */
export const sourceNames = ['archive', 'fxtwitter', 'syndication', 'bluesky', 'mastodon'] as const;
export const postFormats = ['markdown', 'json', 'obsidian'] as const;
export const browseFormats = ['markdown', 'json'] as const;

/** What a result can be sent as. `preview` is for crawlers and has no parameter. */
export type Format = (typeof postFormats)[number] | 'preview';

/** The feeds of a search; `media` is another name of `photos`. */
export const feeds = ['latest', 'top', 'photos', 'videos', 'users'] as const;
export type Feed = (typeof feeds)[number];
const warnings = list(z.string()).describe('What the reader should know; often empty.');

export const postReply = record('PostReply', {
  format: openText(['json'], 'The representation.'),
  url: z.string().describe('The canonical URL of the post that was asked for.'),
  markdown: z.string().describe('The same as the Markdown representation.'),
  posts: list(post).describe(
    'Reading order: ancestors, the post, the author’s continuation, replies.',
  ),
  compact: z.boolean().describe('False when `full=true` added dates, metrics and profile detail.'),
  warnings,
  postCount: z.number().int(),
  fetched_at: z.string().describe('When the upstream was asked: ISO 8601, UTC.'),
  source: openText(sourceNames, 'The provider that answered.'),
});
export type PostReply = z.output<typeof postReply>;

/** The accounts whose profiles a Markdown page shows. */
export type UserDetail = 'off' | 'author' | 'all';

interface ReadResult {
  readonly warnings: readonly string[];
  readonly fetchedAt: string;
  readonly source: string;
  /** True adds dates, metrics and profile detail to the Markdown. */
  readonly full: boolean;
}

/** Result of a post read: the body before its Markdown, and how much to show. */
export interface PostResult extends ReadResult {
  readonly kind: 'post';
  readonly url: string;
  readonly embedUrl: string;
  readonly posts: PostReply['posts'];
  readonly userDetail: UserDetail;
}

/** The body of a read of a list: a profile, its followers or following, replies, or a search. */
export const browseReply = record('BrowseReply', {
  resource: openText(['profile', 'followers', 'following', 'search', 'replies'], 'What was read.'),
  handle: optionalText.describe(
    'Whose profile, list or post it is, without `@`; absent where that is not known.',
  ),
  id: optionalText.describe('Of replies, the id of the post.'),
  url: optionalText.describe('Of replies, the address of the post.'),
  query: optionalText.describe('What was searched for.'),
  feed: openText(feeds, 'The feed of a search.').optional(),
  profile: account.optional(),
  posts: list(post).optional().describe('Of a profile, of replies or of a search of posts.'),
  users: list(account).optional().describe('Of followers, following or a search of accounts.'),
  page: z.number().int().describe('Counts from 1.'),
  limit: z.number().int().describe('The most items of a page; what was asked for, at most 100.'),
  nextCursor: optionalText.describe('Where the next page begins; absent at the end.'),
  warnings,
  degraded: z.boolean().describe('True when the results are not live.'),
  markdown: z.string().describe('The same as the Markdown representation.'),
  source: openText(sourceNames, 'The provider that answered.'),
  fetched_at: z.string().describe('When the upstream was asked: ISO 8601, UTC.'),
});
export type BrowseReply = z.output<typeof browseReply>;

export type BrowseItems =
  | { readonly posts: NonNullable<BrowseReply['posts']> }
  | { readonly users: NonNullable<BrowseReply['users']> };

export type BrowseSubject =
  | {
      readonly resource: 'profile' | 'followers' | 'following';
      /** Without `@`, as the account writes it where that is known. */
      readonly handle: string;
      readonly url: string;
    }
  | {
      readonly resource: 'replies';
      readonly id: string;
      readonly url: string;
      /** Who wrote it, without `@`; null where that is not known. */
      readonly handle: string | null;
      /** The post itself; null where the source has not sent it. */
      readonly answered: z.output<typeof post> | null;
    }
  | { readonly resource: 'search'; readonly query: string; readonly feed: Feed };

export interface BrowseResult extends ReadResult {
  readonly kind: 'browse';
  readonly subject: BrowseSubject;
  /** Of a profile read; null for every other. */
  readonly profile: z.output<typeof account> | null;
  /** Null where a profile was asked for without its posts. */
  readonly items: BrowseItems | null;
  readonly page: number;
  readonly limit: number;
  /** Where the next page begins, and its address; null at the end. */
  readonly next: { readonly cursor: string; readonly url: string } | null;
  readonly degraded: boolean;
}

/** The body of the oEmbed read: oEmbed 1.0, type `rich`. */
export const embedReply = record('EmbedReply', {
  version: z.literal('1.0'),
  type: z.literal('rich'),
  html: z.string().describe('A block quote without scripts, styles and event attributes.'),
  width: z.number().int().describe('Pixels; at most `maxwidth`.'),
  height: z.number().int().describe('Pixels, an estimate; at most `maxheight`.'),
  title: z.string(),
  author_name: optionalText,
  author_url: optionalText,
  provider_name: z.string(),
  provider_url: z.string(),
  cache_age: z.number().int().describe('Seconds.'),
  thumbnail_url: optionalText.describe(
    'All three `thumbnail_` members or none; within `maxwidth` and `maxheight`.',
  ),
  thumbnail_width: z.number().int().optional(),
  thumbnail_height: z.number().int().optional(),
});
export type EmbedReply = z.output<typeof embedReply>;

export interface EmbedResult {
  readonly kind: 'embed';
  readonly post: PostReply['posts'][number];
  readonly baseUrl: string;
  readonly maxWidth: number | null;
  readonly maxHeight: number | null;
  readonly cacheSeconds: number;
}

export type Result = PostResult | BrowseResult | EmbedResult;
