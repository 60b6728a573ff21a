import type { Format } from '../../model/results.ts';
import { toWebUrl } from '../html/pictures.ts';

/** Returns the URL of a result in a format: a URL under `/api/v1` with the parameter `format`. */
export const toFormatUrl = (url: string, format: Format): string =>
  `${url}${url.includes('?') ? '&' : '?'}format=${format}`;

/**
 * Returns an http or https URL that is also valid by RFC 3986, which feeds require; `null` for other URLs. Browsers
 * accept more characters, such as `|` and a second `#`.
 */
export function toStrictUrl(url: string | null): string | null {
  const [, start = '', rest = '', fragment] =
    /^(https?:\/\/[^/?#]*)([^#]*)(?:#(.*))?$/.exec(toWebUrl(url) ?? '') ?? [];
  if (start === '') return null;
  const end = fragment === undefined ? '' : `#${encode(fragment, invalidInPath)}`;
  return `${encode(start, invalidInHost)}${encode(rest, invalidInPath)}${end}`;
}

const invalidInPath = /[^\w.~:/?@!$&'()*+,;=%-]/g;
const invalidInHost = /[^\w.~:/@!$&'()*+,;=%[\]-]/g;

/** Percent-encodes ASCII characters that match `invalid`. A parsed URL has no other characters. */
const encode = (text: string, invalid: RegExp): string =>
  text
    .replace(invalid, (character) => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
    .replace(/%(?![\da-f]{2})/gi, '%25');
