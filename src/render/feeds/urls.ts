import type { Format } from '../../model/results.ts';
import { toWebUrl } from '../html/pictures.ts';

export const toFormatUrl = (url: string, format: Format): string =>
  `${url}${url.includes('?') ? '&' : '?'}format=${format}`;

/** Returns an http(s) URL valid by RFC 3986, stricter than browsers; `null` for other URLs. */
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

/** Percent-encodes matches of `invalid`. `text` must be part of a parsed URL (only ASCII). */
const encode = (text: string, invalid: RegExp): string =>
  text
    .replace(invalid, (character) => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
    .replace(/%(?![\da-f]{2})/gi, '%25');
