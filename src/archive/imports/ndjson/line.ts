import { z } from 'zod';
import { account } from '../../../model/account.ts';
import { post } from '../../../model/post.ts';
import { maximums } from '../../../platforms/maximums.ts';
import type { HeldItem } from '../../export/export-rows.ts';

/*
 * Perch's own form of an archive: a line of JSON for each item, after a first line that says so. It is
 * written by `perch archive export` and read by `perch archive import`.
 */

/** The version of the form, in the first line. A reader refuses those that it does not know. */
export const ndjsonVersion = 1;

const seconds = z.number().nonnegative();

/** An id or a handle. The longest are those of Bluesky, with 2,048 characters. */
const name = z.string().max(maximums.url);
const stored = z.int().nonnegative().describe('When it was so, in Unix seconds.');

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

export type ItemLine = z.output<typeof itemLine>;

/** Returns the first line. `now` in Unix seconds. */
export function toHeadLine(now: number): string {
  const head: z.output<typeof headLine> = { perch_archive: ndjsonVersion, exported_at: now };
  return `${JSON.stringify(head)}\n`;
}

export function toItemLine(item: HeldItem): string {
  return `${JSON.stringify(toLine(item))}\n`;
}

function toLine(item: HeldItem): ItemLine {
  const { kind, stored } = item;
  switch (kind) {
    case 'account':
      return { kind, stored, account: item.account };
    case 'post':
      return { kind, stored, created: item.created, parent: item.parentId, post: item.post };
    case 'repost': {
      const { handle, postHandle, postId, created } = item;
      return { kind, stored, created, handle, post_handle: postHandle, post_id: postId };
    }
    case 'follow':
      return { kind, stored, follower: item.follower, followed: item.followed };
  }
}
