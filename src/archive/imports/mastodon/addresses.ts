import { parseUrl } from '../../../core/http/url.ts';
import { parseFediverseAccount, parseFediversePost } from '../../../model/addresses/address.ts';
import type { Owner } from './actor.ts';
import type { NotePayload } from './payload.ts';

export const nameOf = ({ account }: Owner): string => account.screen_name.toLowerCase();

/** Returns the handle of a post's author from its URL; `null` if the URL contains none. */
export function handleOf(address: string, owner: Owner): string | null {
  const handle = parseFediversePost(address)?.handle ?? null;
  const isOwn = handle === owner.localHandle || address.startsWith(`${owner.address}/statuses/`);
  return isOwn ? nameOf(owner) : handle;
}

/**
 * Returns the author of a post whose URL contains no handle, such as `https://host/objects/{uuid}`:
 * the only account of its host among the recipients of the reply or boost; otherwise `null`.
 */
export function findAuthor(
  address: string,
  recipients: readonly unknown[],
  owner: Owner,
): string | null {
  const host = parseUrl(address)?.hostname;
  const accounts = new Set(recipients.filter((each) => typeof each === 'string'));
  const handles = [...accounts]
    .filter((url) => parseUrl(url)?.hostname === host)
    .map((url) => (url === owner.address ? nameOf(owner) : parseFediverseAccount(url)))
    .filter((handle) => handle !== null);
  return handles.length === 1 ? (handles[0] ?? null) : null;
}

/** Returns the id of the quoted post if it can be in the same export; otherwise `null`. */
export function findOwnQuote(note: NotePayload, owner: Owner): string | null {
  const address = findQuote(note);
  if (address === null || parseUrl(address)?.hostname !== owner.host) return null;
  const quoted = parseFediversePost(address);
  // Ids are unique on a server, so a URL without a handle is that of an own post if the export
  // contains its id.
  const isOwn = quoted?.handle === null || handleOf(address, owner) === nameOf(owner);
  return isOwn && quoted !== null && quoted.id !== parseFediversePost(note.id)?.id
    ? quoted.id
    : null;
}

/** Returns the URL of the quoted post. Each kind of server software uses a different member. */
export function findQuote({ tag, ...note }: NotePayload): string | null {
  const link = tag.find((each) => each.type === 'Link');
  const { quote, quoteUri, quoteUrl, quoteURL, _misskey_quote } = note;
  return quote ?? quoteUri ?? quoteUrl ?? quoteURL ?? _misskey_quote ?? link?.href ?? null;
}
