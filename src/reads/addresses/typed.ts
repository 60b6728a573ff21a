import { isLoopbackName } from '../../core/http/url.ts';
import { Problem } from '../../core/problem.ts';
import { parseHandle } from '../../model/reference.ts';
import { type AddressedRead, type AddressPlace, readAddress } from './address.ts';
import { matchOwnPath } from './own-path.ts';

/**
 * Parses trimmed text: a URL, also without scheme; an account (`@ada`, `ada.example`, `user@host`); a path behind one
 * (`@ada/followers`). Returns `null` for other words.
 *
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for a URL that Perch cannot read
 */
export function readTyped(text: string, place: AddressPlace, name: string): AddressedRead | null {
  if (hasScheme(text)) return readAddress(toTypedUrl(text, place) ?? text, place, name);
  const account = readAccount(text);
  if (account !== null) return account;
  const url = toTypedUrl(text, place);
  if (url === null) return readAccountPath(text);
  try {
    return readAddress(url, place, name);
  } catch (error) {
    // A domain before a slash is the host of a URL, or else a handle.
    const isUnknown = error instanceof Problem && error.code === 'unsupported_host';
    const found = isUnknown ? readAccountPath(text) : null;
    if (found === null) throw error;
    return found;
  }
}

/** Returns a text that is meant as a URL, with the scheme that people leave out; `null` for any other text. */
export function toTypedUrl(text: string, { baseUrl }: { baseUrl: string }): string | null {
  // Copied from a path in which a browser or proxy has merged slashes.
  if (hasScheme(text)) return text.replace(/^(https?):\/(?!\/)/i, '$1://');
  const base = new URL(baseUrl);
  const [host = '', ...rest] = text.split('/');
  if (rest.length === 0) return null;
  if (host.toLowerCase() === base.host) return `${base.protocol}//${text}`;
  if (isLoopbackName(host.replace(/:\d+$/, ''))) return `http://${text}`;
  return /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i.test(host) && !/\s/.test(text) ? `https://${text}` : null;
}

const hasScheme = (text: string) => /^(?:[a-z][a-z0-9+.-]*:\/\/|https?:\/)/i.test(text);

/** A word without `@`, `.` or `:` is no handle. */
function readAccount(text: string): AddressedRead | null {
  const account = /[@.:]/.test(text) ? parseHandle(text) : null;
  return account && { read: 'getProfile', given: { handle: account.handle } };
}

/** Parses the path of an account below Perch's address, without the first slash. */
function readAccountPath(text: string): AddressedRead | null {
  const [first = '', ...rest] = text.split('/');
  if (rest.length === 0 || !/[@.:]/.test(first) || /[\s?#]/.test(text)) return null;
  const found = matchOwnPath(`/${text}`, '');
  const account = typeof found?.given.handle === 'string' ? parseHandle(found.given.handle) : null;
  if (found === null || account === null) return null;
  return { read: found.read, given: { ...found.given, handle: account.handle } };
}
