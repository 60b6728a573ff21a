import { z } from 'zod';
import type { Status } from '../model/post.ts';
import { postUrl } from '../model/reference.ts';

/** The id of a post or an account of X, in decimal. */
export const xId = z.string().regex(/^\d{1,20}$/);

/** A handle as answers about X have it; wider than what a caller may ask for. */
export const xHandle = z.string().regex(/^\w{1,20}$/);

/** Gives the address of a post of X; a null handle stands for one that is not known. */
export function xPostUrl(handle: string | null, id: string): string {
  return postUrl({ platform: 'x', handle, id }, '');
}

/** Gives the address of an account of X by id: X leads from there to it, whatever its handle is by now. */
export function xUserUrl(id: string): string {
  return `https://x.com/i/user/${id}`;
}

/** Returns the address of a community of X. */
export function xCommunityUrl(id: string): string {
  return `https://x.com/i/communities/${id}`;
}

/** Gives what a post of X replies to; null when neither the account nor the post is known. */
export function toReplyingTo(handle: string | null, id: string | null): Status['replying_to'] {
  if (handle === null && id === null) return null;
  return { screen_name: handle, status: id, url: id === null ? null : xPostUrl(handle, id) };
}

/** Gives the address of the large form of an avatar of X. */
export function enlargeAvatar(url: string | null): string | null {
  return url === null ? null : url.replace(/_(?:normal|200x200)(?=\.\w+$)/, '_400x400');
}
