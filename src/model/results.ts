import { z } from 'zod';
import { openText } from '../core/json-schema.ts';
import { account } from './account.ts';
import { post } from './post.ts';
import { sourceNames } from './sources.ts';

/** The formats of a post read. */
export const postFormats = ['markdown', 'json', 'obsidian'] as const;

/** The formats of a browse read. */
export const browseFormats = ['markdown', 'json'] as const;

/** What a result can be sent as. `preview` is for crawlers and has no parameter. */
export type Format = (typeof postFormats)[number] | 'preview';

/** The feeds of a search; `media` is another name of `photos`. */
export const feeds = ['latest', 'top', 'photos', 'videos', 'users'] as const;

/** A feed of a search. */
export type Feed = (typeof feeds)[number];

/** The body of a post read. */
export const postReply = z
  .object({
    format: openText(['json'], 'The representation.'),
    url: z.string().describe('The canonical URL of the post that was asked for.'),
    markdown: z.string().describe('The same as the Markdown representation.'),
    posts: z
      .array(post)
      .readonly()
      .describe('Reading order: ancestors, the post, the author’s continuation, replies.'),
    compact: z
      .boolean()
      .describe('False when `full=true` added dates, metrics and profile detail.'),
    warnings: z.array(z.string()).readonly().describe('What the reader should know; often empty.'),
    postCount: z.number().int(),
    fetched_at: z.string().describe('When the upstream was asked: ISO 8601, UTC.'),
    source: openText(sourceNames, 'The provider that answered.'),
  })
  .readonly()
  .meta({ id: 'PostReply' });

/** The body of a post read. */
export type PostReply = z.output<typeof postReply>;

/** How much of the accounts a Markdown page tells. */
export type UserDetail = 'off' | 'author' | 'all';

/** What a post read gives to a renderer: the body before its Markdown, and how much to show. */
export interface PostResult {
  readonly kind: 'post';
  readonly url: string;
  /** The address of the post's oEmbed document. */
  readonly embedUrl: string;
  readonly posts: PostReply['posts'];
  readonly warnings: readonly string[];
  readonly fetchedAt: string;
  readonly source: string;
  /** True adds exact times, metrics and the client to the Markdown. */
  readonly full: boolean;
  readonly userDetail: UserDetail;
}

const listWarnings = z
  .array(z.string())
  .readonly()
  .describe('What the reader should know; often empty.');

/** The body of a read of a list: a profile, its followers or following, replies, or a search. */
export const browseReply = z
  .object({
    resource: openText(
      [
        'profile',
        'followers',
        'following',
        'search',
        'replies',
      ] satisfies BrowseSubject['resource'][],
      'What was read.',
    ),
    handle: z
      .string()
      .optional()
      .describe('Whose profile, list or post it is, without `@`; absent where that is not known.'),
    id: z.string().optional().describe('Of replies, the id of the post.'),
    url: z.string().optional().describe('Of replies, the address of the post.'),
    query: z.string().optional().describe('What was searched for.'),
    feed: openText(feeds, 'The feed of a search.').optional(),
    profile: account.optional(),
    posts: z
      .array(post)
      .readonly()
      .optional()
      .describe('Of a profile, of replies or of a search of posts.'),
    users: z
      .array(account)
      .readonly()
      .optional()
      .describe('Of followers, following or a search of accounts.'),
    page: z.number().int().describe('Counts from 1.'),
    limit: z.number().int().describe('The most items of a page; what was asked for, at most 100.'),
    nextCursor: z.string().optional().describe('Where the next page begins; absent at the end.'),
    warnings: listWarnings,
    degraded: z.boolean().describe('True when the results are not live.'),
    markdown: z.string().describe('The same as the Markdown representation.'),
    source: openText(sourceNames, 'The provider that answered.'),
    fetched_at: z.string().describe('When the upstream was asked: ISO 8601, UTC.'),
  })
  .readonly()
  .meta({ id: 'BrowseReply' });

/** The body of a browse read. */
export type BrowseReply = z.output<typeof browseReply>;

/** What a browse read lists. */
export type BrowseItems =
  | { readonly posts: NonNullable<BrowseReply['posts']> }
  | { readonly users: NonNullable<BrowseReply['users']> };

/** What a browse read is about. */
export type BrowseSubject =
  | {
      readonly resource: 'profile' | 'followers' | 'following';
      /** Without `@`, as the account writes it where that is known. */
      readonly handle: string;
      /** The account's address on its platform. */
      readonly url: string;
    }
  | {
      readonly resource: 'replies';
      /** The id and the address of the post that they answer. */
      readonly id: string;
      readonly url: string;
      /** Who wrote it, without `@`; null where that is not known. */
      readonly handle: string | null;
      /** The post itself; null where the source has not sent it. */
      readonly answered: z.output<typeof post> | null;
    }
  | { readonly resource: 'search'; readonly query: string; readonly feed: Feed };

/** What a browse read gives to a renderer: the body before its Markdown. */
export interface BrowseResult {
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
  readonly warnings: readonly string[];
  readonly degraded: boolean;
  readonly fetchedAt: string;
  readonly source: string;
  /** True adds dates, metrics and profile detail to the Markdown. */
  readonly full: boolean;
}

/** The body of the oEmbed read: oEmbed 1.0, type `rich`. */
export const embedReply = z
  .object({
    version: z.literal('1.0'),
    type: z.literal('rich'),
    html: z.string().describe('A block quote without scripts, styles and event attributes.'),
    width: z.number().int().describe('Pixels; at most `maxwidth`.'),
    height: z.number().int().describe('Pixels, an estimate; at most `maxheight`.'),
    title: z.string(),
    author_name: z.string().optional(),
    author_url: z.string().optional(),
    provider_name: z.string(),
    provider_url: z.string(),
    cache_age: z.number().int().describe('Seconds.'),
    thumbnail_url: z
      .string()
      .optional()
      .describe('All three `thumbnail_` members or none; within `maxwidth` and `maxheight`.'),
    thumbnail_width: z.number().int().optional(),
    thumbnail_height: z.number().int().optional(),
  })
  .readonly()
  .meta({ id: 'EmbedReply' });

/** The body of the oEmbed read. */
export type EmbedReply = z.output<typeof embedReply>;

/** What the oEmbed read gives to a renderer. */
export interface EmbedResult {
  readonly kind: 'embed';
  readonly post: PostReply['posts'][number];
  /** The address of this server. */
  readonly baseUrl: string;
  /** Pixels that the embedding page has; null where it does not say. */
  readonly maxWidth: number | null;
  readonly maxHeight: number | null;
  /** Seconds that the document may be kept. */
  readonly cacheSeconds: number;
}

/** What a read gives to a renderer. */
export type Result = PostResult | BrowseResult | EmbedResult;
