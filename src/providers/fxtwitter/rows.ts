import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Status } from '../../model/post.ts';
import type { Rows } from '../rows.ts';
import { tellBeyond } from '../tell-left-out.ts';
import { isStatus } from './conversation.ts';
import type { PostPayload } from './payload.ts';
import { shapePost } from './shape.ts';

/** Returns the warnings for rows that were left out. */
export function tellUnread(
  { unreadable, beyond }: Rows<unknown>,
  noun: 'post' | 'account',
): readonly string[] {
  return [...tellUnreadable(unreadable, noun), ...tellBeyond(beyond, noun)];
}

function tellUnreadable(unreadable: number, noun: 'post' | 'account'): readonly string[] {
  if (unreadable === 0) return [];
  const rows = unreadable === 1 ? `1 ${noun} is` : `${unreadable} ${noun}s are`;
  const them = unreadable === 1 ? 'it' : 'them';
  return [`${rows} left out, because the source sent nothing readable for ${them}.`];
}

/**
 * Gives the posts of a list that the public can see, in order. A tombstone has no place in a list, and
 * what a protected account reposted is known to its followers alone.
 */
export async function shapeListed(
  rows: readonly PostPayload[],
  sliced: Sliced,
): Promise<readonly Status[]> {
  const posts = await mapInSlices(rows, shapePost, sliced);
  return posts.filter(isStatus).filter(({ reposted_by }) => reposted_by?.protected !== true);
}
