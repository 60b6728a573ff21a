import * as z from 'zod';
import { openEnum } from '../lib/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { list, optionalText, record } from './record.ts';

export const sourceNames = [
  'archive',
  'fxtwitter',
  'syndication',
  'bluesky',
  'mastodon',
  'activitypub',
] as const;

/** Formats of feeds. Perch returns threads, histories and lists of posts in these formats. */
export const feedFormats = ['atom', 'rss', 'jsonfeed'] as const;
export type FeedFormat = (typeof feedFormats)[number];
export const isFeedFormat = (format: string): format is FeedFormat =>
  (feedFormats as readonly string[]).includes(format);

export const postFormats = ['markdown', 'json', 'obsidian', 'html', ...feedFormats] as const;
export const listFormats = ['markdown', 'json', 'html', ...feedFormats] as const;
export const accountFormats = ['markdown', 'json', 'html'] as const;

/** Internal formats: `preview` for link preview crawlers; `data` (no `markdown`) for MCP. */
export const internalFormats = ['preview', 'data'] as const;
export type Format = (typeof postFormats)[number] | (typeof internalFormats)[number];
export const isInternalFormat = (format: string): boolean =>
  internalFormats.some((one) => one === format);

/** Kinds of search results. The parameter also accepts `media` as a synonym for `photos`. */
export const feeds = ['latest', 'top', 'photos', 'videos', 'users'] as const;
export type Feed = (typeof feeds)[number];
const warnings = list(z.string()).describe(
  'Sentences for people about parts of the response that are missing, outdated or unusual.',
);

export const postReply = record('PostReply', {
  format: openEnum(['json'], 'Format of the response.'),
  url: z.string().describe('Canonical URL of the requested post.'),
  markdown: z.string().describe('Content of this response as Markdown.'),
  posts: list(post).describe(
    'Posts in reading order: ancestors, the post, the rest of the author’s thread, replies.',
  ),
  compact: z
    .boolean()
    .describe(
      'Whether `markdown` is compact. It is false if the parameter `full=true` added dates, metrics and profile details.',
    ),
  warnings,
  postCount: z.number().int(),
  fetched_at: z
    .string()
    .describe(
      'Time at which Perch read the content from the source: ISO 8601, UTC. For an imported account, the time at which the platform created the export.',
    ),
  source: openEnum(sourceNames, 'Name of the data provider from which Perch read the content.'),
});
export type PostReply = z.output<typeof postReply>;

/** Accounts whose profiles a page includes: none, the post's author, or all on the page. */
export type UserDetail = 'off' | 'author' | 'all';

/** Absolute URLs of a page and its neighbors under `/api/v1`, without `format`. */
export interface PageUrls {
  readonly self: string;
  readonly first: string;
  /** `null` on the first page and from page 12 on, as `page` may be 10 at most. */
  readonly previous: string | null;
}

interface ReadResult {
  readonly urls: PageUrls;
  /** Number of seconds for which Perch answers repeated requests from its cache. */
  readonly freshSeconds: number;
  readonly warnings: readonly string[];
  readonly fetchedAt: string;
  readonly source: string;
  /** Whether the Markdown includes dates, metrics and profile details. */
  readonly full: boolean;
}

interface TextBound {
  /** Maximum length of the text of the result in UTF-16 code units. */
  readonly maxChars: number;
}

export interface PostResult extends ReadResult {
  readonly kind: 'post';
  readonly url: string;
  readonly embedUrl: string;
  readonly posts: PostReply['posts'];
  readonly userDetail: UserDetail;
  /** Limit on the length of the text; absent for no limit. */
  readonly bound?: TextBound & {
    /** URL that lists the replies to the requested post. */
    readonly repliesUrl: string;
  };
}

export type PostPage = Omit<PostResult, 'kind' | 'urls' | 'embedUrl' | 'freshSeconds' | 'bound'>;

/** JSON list: posts of a profile, followers, following, replies, or search results. */
export const listReply = record('BrowseReply', {
  resource: openEnum(
    ['profile', 'followers', 'following', 'search', 'replies'],
    'Content of the response: a profile with its posts, a list of accounts, a search, or replies.',
  ),
  handle: optionalText.describe(
    'Handle of the requested account, without `@`. For a list of replies, the handle of the author of the post whose replies were requested. Absent if unknown, and for a search.',
  ),
  id: optionalText.describe('Id of the post whose replies were requested; absent for other lists.'),
  url: optionalText.describe(
    'URL of the post whose replies were requested; absent for other lists.',
  ),
  query: optionalText.describe('Search text; absent for other lists.'),
  feed: openEnum(feeds, 'Kind of search results; absent for other lists.').optional(),
  profile: account.optional(),
  posts: list(post)
    .optional()
    .describe(
      'Posts on this page: posts of a profile, replies to a post, or search results. Absent for a list of accounts, or if no posts were requested.',
    ),
  users: list(account)
    .optional()
    .describe(
      'Accounts on this page: followers, followed accounts, or search results. Absent for a list of posts, or if no list was requested.',
    ),
  page: z.number().int().describe('Page number, from 1.'),
  limit: z.number().int().describe('Maximum number of items on the page, as requested, up to 100.'),
  nextCursor: optionalText.describe('Cursor of the next page; absent on the last page.'),
  warnings,
  degraded: z
    .boolean()
    .describe(
      'Whether the results of a search are not live: they come from the archive instead of the platform, or they are old results from the cache.',
    ),
  markdown: z.string().describe('Content of this response as Markdown.'),
  source: openEnum(sourceNames, 'Name of the data provider from which Perch read the content.'),
  fetched_at: z
    .string()
    .describe(
      'Time at which Perch read the content from the source: ISO 8601, UTC. For an imported account, the time at which the platform created the export.',
    ),
});
export type ListReply = z.output<typeof listReply>;

export type ListItems =
  | { readonly posts: NonNullable<ListReply['posts']> }
  | { readonly users: NonNullable<ListReply['users']> };

export type ListSubject =
  | {
      readonly resource: 'profile' | 'followers' | 'following';
      /** Handle without `@`, capitalized as at the source; lower case without account data. */
      readonly handle: string;
      readonly url: string;
    }
  | {
      readonly resource: 'replies';
      readonly id: string;
      readonly url: string;
      /** Handle, without `@`, of the author of the post with these replies; `null` if unknown. */
      readonly handle: string | null;
      /** Post whose replies were requested; `null` if the source has not sent that post. */
      readonly answered: z.output<typeof post> | null;
    }
  | { readonly resource: 'search'; readonly query: string; readonly feed: Feed };

export interface ListResult extends ReadResult {
  readonly kind: 'browse';
  readonly subject: ListSubject;
  /** Account whose profile was requested; `null` for other requests. */
  readonly profile: z.output<typeof account> | null;
  /** Posts or accounts on the page; `null` if a profile was requested without its posts. */
  readonly items: ListItems | null;
  readonly page: number;
  readonly limit: number;
  /** Cursor and URL of the next page; `null` on the last page. */
  readonly next: NextPage | null;
  readonly degraded: boolean;
  /** Limit on the length of the text; absent for no limit. */
  readonly bound?: TextBound & {
    /** Returns the page after the first `count` items; `null` if its cursor is too long. */
    readonly nextAfter: ((count: number) => NextPage | null) | null;
  };
}

export interface NextPage {
  readonly cursor: string;
  readonly url: string;
}

/** oEmbed 1.0 response of type `rich` (https://oembed.com). */
export const embedReply = record('EmbedReply', {
  version: z.literal('1.0'),
  type: z.literal('rich'),
  html: z
    .string()
    .describe('HTML block quote with the post, without scripts, styles and event attributes.'),
  width: z.number().int().describe('Width of the embedded post in pixels, up to `maxwidth`.'),
  height: z
    .number()
    .int()
    .describe('Estimated height of the embedded post in pixels, up to `maxheight`.'),
  title: z.string(),
  author_name: optionalText,
  author_url: optionalText,
  provider_name: z.string(),
  provider_url: z.string(),
  cache_age: z.number().int().describe('Suggested caching time in seconds.'),
  thumbnail_url: optionalText.describe(
    'URL of a picture of the post that is not larger than `maxwidth` and `maxheight`. Either all three `thumbnail_` members are present, or none.',
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

export type Result = PostResult | ListResult | EmbedResult;
