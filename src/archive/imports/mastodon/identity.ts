import { parseUrl } from '../../../core/http/url.ts';
import { isPostId, parseHandle } from '../../../model/reference.ts';
import type { MentionPayload } from './payload.ts';

/**
 * Reads the address of a post: `https://host/users/user/statuses/1`, `https://host/ap/users/2/statuses/1` or
 * `https://host/@user/1`; null for any other. `handle` is null if it names the author by a number.
 */
export function parseNoteAddress(
  address: string,
): { readonly handle: string | null; readonly id: string } | null {
  const url = parseUrl(address);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return null;
  const [, user, longId, number, numberedId, name, shortId] = notePath.exec(url.pathname) ?? [];
  const id = longId ?? numberedId ?? shortId;
  if (id === undefined || !isPostId('mastodon', id)) return null;
  if (number !== undefined) return { handle: null, id };
  const account = parseHandle(`${user ?? name}@${url.hostname}`);
  return account?.platform === 'mastodon' ? { handle: account.handle, id } : null;
}

const notePath =
  /^\/(?:users\/([\w.-]+)\/statuses\/(\w+)|ap\/users\/(\w+)\/statuses\/(\w+)|@([\w.-]+)\/(\w+))\/?$/;

/** Makes the way to name the mentions in a post by what it says of them. */
export function createNaming(mentions: readonly MentionPayload[]) {
  return (url: string, label: string): string | null => {
    const user = label.trim().replace(/^@/, '').toLowerCase();
    const [only, ...others] = mentions.filter(
      ({ name }) => name.replace(/^@/, '').split('@')[0]?.toLowerCase() === user,
    );
    const known =
      mentions.find(({ href }) => href === url) ?? (others.length === 0 ? only : undefined);
    return known === undefined ? null : handleOf(known);
  };
}

/** An account of the author's own server is named without it. */
function handleOf({ name, href }: MentionPayload): string | null {
  const handle = name.replace(/^@/, '');
  if (handle.includes('@')) return handle;
  const url = parseUrl(href);
  return url === null ? null : `${handle}@${url.hostname}`;
}
