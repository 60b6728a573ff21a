import { z } from 'zod';
import type { Status } from '../model/post.ts';
import { postUrl } from '../model/reference.ts';

export const xId = z.string().regex(/^\d{1,20}$/);

/** A handle in answers about X, which may be longer than those that callers may ask for. */
export const xHandle = z.string().regex(/^\w{1,20}$/);

export function xPostUrl(handle: string | null, id: string): string {
  return postUrl({ platform: 'x', handle, id }, '');
}

/** Returns the address of an account of X by id, from which X redirects to its present handle. */
export function xUserUrl(id: string): string {
  return `https://x.com/i/user/${id}`;
}

export function xCommunityUrl(id: string): string {
  return `https://x.com/i/communities/${id}`;
}

/** Returns what a post of X replies to; `null` if neither the account nor the post is known. */
export function toReplyingTo(handle: string | null, id: string | null): Status['replying_to'] {
  if (handle === null && id === null) return null;
  return { screen_name: handle, status: id, url: id === null ? null : xPostUrl(handle, id) };
}

export function enlargeAvatar(url: string | null): string | null {
  return url === null ? null : url.replace(/_(?:normal|200x200)(?=\.\w+$)/, '_400x400');
}
