import { z } from 'zod';
import type { Status } from '../model/post.ts';
import { postUrl } from '../model/reference.ts';

export const xId = z.string().regex(/^\d{1,20}$/);

/** Schema of a handle in upstream responses about X. Handles in responses may be longer than handles in requests. */
export const xHandle = z.string().regex(/^\w{1,20}$/);

export const xPostUrl = (handle: string | null, id: string): string =>
  postUrl({ platform: 'x', handle, id }, '');

/** Returns the URL of an account on X from its id. X redirects this URL to the page of the account's current handle. */
export const xUserUrl = (id: string): string => `https://x.com/i/user/${id}`;

export const xCommunityUrl = (id: string): string => `https://x.com/i/communities/${id}`;

/**
 * Returns a reference to the parent of a reply on X. `handle`: handle of the parent's author. `id`:
 * id of the parent. Returns `null` if both are `null`.
 */
export function toReplyingTo(handle: string | null, id: string | null): Status['replying_to'] {
  if (handle === null && id === null) return null;
  return { screen_name: handle, status: id, url: id === null ? null : xPostUrl(handle, id) };
}

export const enlargeAvatar = (url: string | null): string | null =>
  url === null ? null : url.replace(/_(?:normal|200x200)(?=\.\w+$)/, '_400x400');
