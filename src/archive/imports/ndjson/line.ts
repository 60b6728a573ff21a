import { z } from 'zod';
import { account } from '../../../model/account.ts';
import { post } from '../../../model/post.ts';
import { maximums } from '../../../platforms/maximums.ts';
import type { ArchivedItem } from '../../export/export-rows.ts';

/* Perch's own export format: a first line that identifies the format, then one line of JSON per item. */

/** Version in the first line of an NDJSON export. Imports reject files with a later version. */
export const ndjsonVersion = 1;

const seconds = z.number().nonnegative();

const name = z.string().max(maximums.url);
const stored = z
  .int()
  .nonnegative()
  .describe('Unix second at which the platform provided the item.');

export const headLine = z.object({
  perch_archive: z.int().positive(),
  exported_at: z.int().nonnegative().describe('Time of the export in Unix seconds.'),
});

/** Line after the first. The line of an account precedes its posts, reposts and follows. */
export const itemLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), stored, account }),
  z.object({ kind: z.literal('post'), stored, post, parent: name.nullable(), created: seconds }),
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

/** Returns the first line of an NDJSON export. `now` is in Unix seconds. */
export function toHeadLine(now: number): string {
  const head: z.output<typeof headLine> = { perch_archive: ndjsonVersion, exported_at: now };
  return `${JSON.stringify(head)}\n`;
}

export const toItemLine = (item: ArchivedItem): string => `${JSON.stringify(toLine(item))}\n`;

function toLine(item: ArchivedItem): ItemLine {
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
