import { Problem } from '../../lib/problem.ts';
import { parseHandle } from '../../model/reference.ts';
import {
  type AddressedRead,
  type AddressOptions,
  hasScheme,
  parseAddress,
  toTypedUrl,
} from './address.ts';
import { matchOwnPath } from './own-path.ts';

/**
 * Parses trimmed text: a URL, with or without a scheme; an account (`@ada`, `ada.example`,
 * `user@host`); or an account with a path (`@ada/followers`). Returns `null` for other text.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for a URL that Perch cannot
 *   read
 */
export function parseTypedInput(
  text: string,
  options: AddressOptions,
  name: string,
): AddressedRead | null {
  if (hasScheme(text)) return parseAddress(toTypedUrl(text, options) ?? text, options, name);
  const account = parseAccount(text);
  if (account !== null) return account;
  const url = toTypedUrl(text, options);
  if (url === null) return parseAccountPath(text);
  try {
    return parseAddress(text, options, name);
  } catch (error) {
    // A domain before a slash is either the host of a URL or a handle.
    const isUnknown = error instanceof Problem && error.code === 'unsupported_host';
    const found = isUnknown ? parseAccountPath(text) : null;
    if (found === null) throw error;
    return found;
  }
}

function parseAccount(text: string): AddressedRead | null {
  const account = /[@.:]/.test(text) ? parseHandle(text) : null;
  return account && { read: 'getProfile', given: { handle: account.handle } };
}

function parseAccountPath(text: string): AddressedRead | null {
  const [first = '', ...rest] = text.split('/');
  if (rest.length === 0 || !/[@.:]/.test(first) || /[\s?#]/.test(text)) return null;
  const found = matchOwnPath(`/${text}`, '');
  const account = typeof found?.given.handle === 'string' ? parseHandle(found.given.handle) : null;
  if (found === null || account === null) return null;
  return { read: found.read, given: { ...found.given, handle: account.handle } };
}
