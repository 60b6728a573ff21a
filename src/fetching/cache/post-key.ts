import type { Post } from '../../model/post.ts';

/**
 * Returns the key of a post in a list: its id if that is unique on the platform, or its address.
 */
export function postKey({ platform, id, url }: Post): string | null {
  return platform === 'x' || platform === 'sample' ? id : (url ?? id);
}
