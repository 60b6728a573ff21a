import { parseHandle } from '../../../model/reference.ts';
import type { AddressPlace } from '../../../reads/addresses/address.ts';
import { toOwnAddress } from '../../../reads/addresses/own-path.ts';
import { readTyped, toTypedUrl } from '../../../reads/addresses/typed.ts';
import { type OwnRead, ownAddress, toOwnRead } from '../own-address.ts';

/**
 * Reads what somebody put into the box of the front page: an address, a handle, or words to search for.
 *
 * @param text Trimmed, not empty.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for an address that Perch cannot read
 */
export function readPasted(text: string, place: AddressPlace): OwnRead {
  const url = toTypedUrl(text, place);
  const own = url === null ? null : ownAddress(url, place.baseUrl);
  const ownRead = own === null ? null : toOwnRead(own);
  if (ownRead !== null) return ownRead;
  const words = { read: 'searchPosts', given: { q: text } } as const;
  const found = readTyped(text, place, 'The parameter `q`') ?? words;
  return { ...found, address: toOwnAddress(found, 'permalink') };
}

/** Another meaning of what was put into the box. */
export interface OtherMeaning {
  readonly kind: 'account' | 'search';
  /** The text for the box. */
  readonly text: string;
  /** The handle or the words. */
  readonly name: string;
}

/** Returns what one word can mean besides what it is read as; null if it has one meaning. */
export function otherMeaningOf(text: string): OtherMeaning | null {
  const account = /^@|\s/.test(text) ? null : parseHandle(text);
  if (account === null) return null;
  // A name with a dot is read as a handle, which `node.js` is not meant as.
  if (/[@:]/.test(text)) return null;
  return text.includes('.')
    ? { kind: 'search', text: `"${text}"`, name: text }
    : { kind: 'account', text: `@${text}`, name: `@${text}` };
}
