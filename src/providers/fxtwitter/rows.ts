import type { Status } from '../../model/post.ts';
import type { Rows } from '../rows.ts';
import { isStatus } from './conversation.ts';
import type { PostPayload } from './payload.ts';
import { shapePost } from './shape.ts';

/** Says how many rows were left out; nothing when none were. */
export function tellUnreadable(
  { unreadable }: Pick<Rows<unknown>, 'unreadable'>,
  noun: 'post' | 'account',
): readonly string[] {
  if (unreadable === 0) return [];
  const rows = unreadable === 1 ? `1 ${noun} is` : `${unreadable} ${noun}s are`;
  const them = unreadable === 1 ? 'it' : 'them';
  return [`${rows} left out, because the source sent nothing readable for ${them}.`];
}

/**
 * Gives the posts of a list that the public can see, in order. A tombstone has no place in a list, and
 * what a protected account reposted is known to its followers alone.
 */
export function shapeListed(rows: readonly PostPayload[]): readonly Status[] {
  return rows
    .map(shapePost)
    .filter(isStatus)
    .filter(({ reposted_by }) => reposted_by?.protected !== true);
}
