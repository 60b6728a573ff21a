import { parseHandle, parsePostUrl, parseProfileUrl } from '../../model/reference.ts';
import { isPermalinkHandle } from '../routes.ts';
import { encodeComponent } from './encode-component.ts';
import { type OwnRead, ownAddress, toOwnRead } from './own-address.ts';

/**
 * Understands what somebody pasted, as the read that it stands for: the address of a post or an
 * account, an address of Perch's own, a handle; anything else is searched for.
 *
 * @param text Trimmed, not empty.
 * @param baseUrl Perch's own address, without a trailing slash.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` where it is an address that
 *   Perch cannot read.
 */
export function readPasted(text: string, baseUrl: string): OwnRead {
  const url = toUrl(text, baseUrl);
  if (url === null) return readAt(addressOfWords(text));
  const own = ownAddress(url, baseUrl);
  const read = own === null ? null : toOwnRead(own);
  // An address of Perch's own that is no read is told what another site's would be told.
  return read ?? readAt(addressOfUrl(url, baseUrl));
}

function readAt(address: string): OwnRead {
  const read = toOwnRead(address);
  if (read === null) throw new Error(`No read answers at ${address}.`);
  return read;
}

/** Gives what is meant as a URL, with the scheme that people leave out; null for words. */
function toUrl(text: string, baseUrl: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const base = new URL(baseUrl);
  if (text.toLowerCase().startsWith(`${base.host}/`)) return `${base.protocol}//${text}`;
  return /^(?:[a-z0-9-]+\.)+[a-z]{2,}\/\S*$/i.test(text) ? `https://${text}` : null;
}

function addressOfWords(text: string): string {
  const account = /^\S+$/.test(text) ? parseHandle(text) : null;
  return account === null ? `/search?q=${encodeComponent(text)}` : addressOfAccount(account.handle);
}

function addressOfUrl(text: string, baseUrl: string): string {
  const account = parseProfileUrl(text, baseUrl);
  if (account !== null) return addressOfAccount(account.handle);
  const { handle, id } = parsePostUrl(text, baseUrl);
  if (handle === null || !isPermalinkHandle(handle))
    return `/api/v1/posts?url=${encodeComponent(text)}`;
  return `/${encodeHandle(handle)}/status/${encodeComponent(id)}`;
}

/** Names that Perch keeps for itself are handles under `/api/v1` only. */
function addressOfAccount(handle: string): string {
  const path = encodeHandle(handle);
  return isPermalinkHandle(handle) ? `/${path}` : `/api/v1/profiles/${path}`;
}

function encodeHandle(handle: string): string {
  return encodeComponent(handle).replaceAll('%40', '@').replaceAll('%3A', ':');
}
