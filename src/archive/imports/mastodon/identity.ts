import { parseUrl } from '../../../core/http/url.ts';
import { isPostId, parseHandle } from '../../../model/reference.ts';
import type { MentionPayload } from './payload.ts';

/** Where a post of Mastodon is. */
export interface NoteAddress {
  /** `user@host`; null where the address names its author by a number. */
  readonly handle: string | null;
  readonly host: string;
  readonly id: string;
}

/**
 * Reads the address of a post: `https://host/users/user/statuses/1`, `https://host/ap/users/2/statuses/1`
 * or `https://host/@user/1`. Null for any other.
 */
export function parseNoteAddress(address: string): NoteAddress | null {
  const url = parseUrl(address);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return null;
  const [, user, longId, number, numberedId, name, shortId] = notePath.exec(url.pathname) ?? [];
  const id = longId ?? numberedId ?? shortId;
  if (id === undefined || !isPostId('mastodon', id)) return null;
  const { hostname: host } = url;
  if (number !== undefined) return { handle: null, host, id };
  const account = parseHandle(`${user ?? name}@${host}`);
  return account?.platform === 'mastodon' ? { handle: account.handle, host, id } : null;
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
