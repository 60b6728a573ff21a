import type { Post } from '../../model/post.ts';

/**
 * Gives what tells a post from every other in a list: its id where ids are unique on the platform, else
 * its address; null where it has neither.
 */
export function postKey({ platform, id, url }: Post): string | null {
  return platform === 'x' || platform === 'sample' ? id : (url ?? id);
}
