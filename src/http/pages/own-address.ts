import { parseUrl } from '../../core/http/url.ts';
import type { AddressedRead } from '../../reads/addresses/address.ts';
import { ownPathOf } from '../../reads/addresses/address.ts';
import { matchOwnPath } from '../../reads/addresses/own-path.ts';

/** A read, and the address of Perch's own at which it answers. */
export interface OwnRead extends AddressedRead {
  /** The path and query, without `format`. */
  readonly address: string;
}

/**
 * Returns the path and query of a URL below Perch's own address; null for any other URL, and for one with
 * a user name.
 *
 * @param baseUrl Perch's own address, without a trailing slash.
 */
export function ownAddress(text: string, baseUrl: string): string | null {
  const url = parseUrl(text);
  if (url === null) return null;
  const isPlain = /^https?:$/.test(url.protocol) && url.username + url.password === '';
  const path = isPlain ? ownPathOf(url, baseUrl) : null;
  return path === null ? null : `${path}${url.search}`;
}

/** Returns the read at a path and query; null if none answers there that has a page of Markdown. */
export function toOwnRead(address: string): OwnRead | null {
  const [path = '', ...queries] = address.split('?');
  const query = withoutFormat(queries.join('?'));
  const found = matchOwnPath(path, `?${query}`);
  return found && { ...found, address: query === '' ? path : `${path}?${query}` };
}

/** A page shows Markdown, whatever the address asks for. */
function withoutFormat(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '' && !/^format(?:=|$)/.test(pair))
    .join('&');
}
