import { z } from 'zod';
import { postUrl } from '../model/addresses/urls.ts';
import type { Status } from '../model/post.ts';

export const xId = z.string().regex(/^\d{1,20}$/);

/** Schema of a handle in upstream responses about X. Handles in responses may be longer than handles in requests. */
export const xHandle = z.string().regex(/^\w{1,20}$/);

export const xPostUrl = (handle: string | null, id: string): string =>
  postUrl({ platform: 'x', handle, id }, '');

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
