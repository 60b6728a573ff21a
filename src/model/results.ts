import { z } from 'zod';
import { post } from './post.ts';

/** The formats of a post read (decisions section 3). */
export const postFormats = ['markdown', 'json', 'obsidian'] as const;

/** A format of a read. */
export type Format = (typeof postFormats)[number];

/** The body of a post read (decisions section 4). */
export const postReply = z
  .object({
    format: z.string().describe('The representation: `json`.'),
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
    source: z.string().describe('The provider that answered; an open set.'),
  })
  .readonly()
  .meta({ id: 'PostReply' });

/** The body of a post read. */
export type PostReply = z.output<typeof postReply>;

/** How much of the accounts a Markdown page tells. */
export type UserDetail = 'off' | 'author' | 'all';

/** What a post read gives to a renderer: the body before its Markdown, and how much to show. */
export interface PostResult {
  readonly url: string;
  readonly posts: PostReply['posts'];
  readonly warnings: readonly string[];
  readonly fetchedAt: string;
  readonly source: string;
  /** True adds exact times, metrics and the client to the Markdown. */
  readonly full: boolean;
  readonly userDetail: UserDetail;
}
