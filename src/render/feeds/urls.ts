import type { Format } from '../../model/results.ts';
import { toWebUrl } from '../html/pictures.ts';

/** Adds the parameter `format` to the URL of a result under `/api/v1`. */
export const toFormatUrl = (url: string, format: Format): string =>
  `${url}${url.includes('?') ? '&' : '?'}format=${format}`;

/**
 * Returns an http or https URL that is also valid by RFC 3986, which feeds require; `null` for other URLs. Browsers
 * accept more characters, such as `|` and a second `#`.
 */
export function toStrictUrl(url: string | null): string | null {
  const web = toWebUrl(url);
  if (web === null) return null;
  const [base = '', ...fragments] = web.split('#');
  const end = fragments.length === 0 ? '' : `#${encode(fragments.join('#'), invalidInPath)}`;
  // A parsed URL always has a slash after the host.
  const path = base.indexOf('/', 'https://'.length);
  return `${encode(base.slice(0, path), invalidInHost)}${encode(base.slice(path), invalidInPath)}${end}`;
}

const invalidInPath = /[^\w.~:/?@!$&'()*+,;=%-]/g;
const invalidInHost = /[^\w.~:/@!$&'()*+,;=%[\]-]/g;

/**
 * Percent-encodes the characters that match `invalid`. `text` must be part of a parsed URL, which
 * contains only ASCII characters.
 */
const encode = (text: string, invalid: RegExp): string =>
  text
    .replace(invalid, (character) => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
    .replace(/%(?![\da-f]{2})/gi, '%25');
