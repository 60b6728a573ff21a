import { parseUrl } from '../../../core/http/url.ts';
import { parseHandle } from '../../../model/reference.ts';
import type { AddressedRead, AddressOptions } from '../../../reads/addresses/address.ts';
import { ownPathOf } from '../../../reads/addresses/address.ts';
import { matchOwnPath, toOwnPath } from '../../../reads/addresses/own-path.ts';
import { parseTypedInput, toTypedUrl } from '../../../reads/addresses/typed-input.ts';

/** A read, and the path and query at which this server answers it, without `format`. */
export interface OwnRead extends AddressedRead {
  readonly address: string;
}

/**
 * Reads the trimmed text of the box of the front page: an address, a handle, or words to search for.
 *
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for an address that Perch cannot read
 */
export function readPasted(text: string, place: AddressOptions): OwnRead {
  const url = toTypedUrl(text, place);
  const own = url === null ? null : ownAddress(url, place.baseUrl);
  const ownRead = own === null ? null : toOwnRead(own);
  if (ownRead !== null) return ownRead;
  const words = { read: 'searchPosts', given: { q: text } } as const;
  const found = parseTypedInput(text, place, 'The parameter `q`') ?? words;
  return { ...found, address: toOwnPath(found, 'permalink') };
}

/** Returns the path and query of a URL of this server; `null` for any other, and for one with a user name. */
export function ownAddress(text: string, baseUrl: string): string | null {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    return null;
  }
  const path = ownPathOf(url, baseUrl);
  return path === null ? null : `${path}${url.search}`;
}

/** A page shows Markdown, so the `format` of the address is ignored. */
function toOwnRead(address: string): OwnRead | null {
  const [path = '', ...queries] = address.split('?');
  const pairs = queries.join('?').split('&');
  const query = pairs.filter((pair) => pair !== '' && !/^format(?:=|$)/.test(pair)).join('&');
  const found = matchOwnPath(path, `?${query}`);
  return found && { ...found, address: query === '' ? path : `${path}?${query}` };
}

/** Returns the second meaning of a single word: an account for a search, or the reverse. */
export function otherMeaningOf(text: string) {
  // A name with a dot is read as a handle, which `node.js` is not meant as.
  if (/[@:\s]/.test(text) || parseHandle(text) === null) return null;
  return text.includes('.')
    ? { kind: 'search' as const, text: `"${text}"`, name: text }
    : { kind: 'account' as const, text: `@${text}`, name: `@${text}` };
}
