import { z } from 'zod';
import { account } from '../../../model/account.ts';
import { post } from '../../../model/post.ts';
import { maximums } from '../../../platforms/maximums.ts';

/*
 * Perch's own form of an archive: a line of JSON for each item, after a first line that says so. It is
 * written by `perch archive export` and read by `perch archive import`, and these are its shapes.
 */

/** The version of the form, in the first line. A reader refuses those that it does not know. */
export const ndjsonVersion = 1;

const seconds = z.number().nonnegative();

/** An id or a handle. The longest are those of Bluesky, with 2,048 characters. */
const name = z.string().max(maximums.url);
const stored = z.int().nonnegative().describe('When it was so, in Unix seconds.');

/** The first line. */
export const headLine = z.object({
  perch_archive: z.int().positive(),
  exported_at: z.int().nonnegative().describe('Unix seconds.'),
});

/** A line after the first. What is known of an account follows its line, before the next account. */
export const itemLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), stored, account }),
  z.object({
    kind: z.literal('post'),
    stored,
    post,
    parent: name.nullable(),
    created: seconds,
  }),
  z.object({
    kind: z.literal('repost'),
    stored,
    handle: name,
    post_handle: name,
    post_id: name,
    created: seconds,
  }),
  z.object({ kind: z.literal('follow'), stored, follower: name, followed: name }),
]);

/** A line after the first. */
export type ItemLine = z.output<typeof itemLine>;
