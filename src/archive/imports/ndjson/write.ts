import type { z } from 'zod';
import type { HeldItem } from '../../export/export-rows.ts';
import { type headLine, type ItemLine, ndjsonVersion } from './line.ts';

/** Gives the first line of Perch's NDJSON. `now` in Unix seconds. */
export function toHeadLine(now: number): string {
  const head: z.output<typeof headLine> = { perch_archive: ndjsonVersion, exported_at: now };
  return `${JSON.stringify(head)}\n`;
}

/** Gives an item as a line of Perch's NDJSON. */
export function toItemLine(item: HeldItem): string {
  return `${JSON.stringify(toLine(item))}\n`;
}

function toLine(item: HeldItem): ItemLine {
  const { stored } = item;
  switch (item.kind) {
    case 'account':
      return { kind: 'account', stored, account: item.account };
    case 'post': {
      const { parentId: parent, created, post } = item;
      return { kind: 'post', stored, created, parent, post };
    }
    case 'repost': {
      const { handle, postHandle, postId, created } = item;
      const post = { post_handle: postHandle, post_id: postId };
      return { kind: 'repost', stored, created, handle, ...post };
    }
    case 'follow':
      return { kind: 'follow', stored, follower: item.follower, followed: item.followed };
  }
}
