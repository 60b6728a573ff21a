import { parseUrl } from './http/url.ts';

const key = /(perch_|(?<![a-z0-9])(?:ses|svct)_)[\w%-]{16,}/gi;

const layers = 3; // maximum number of layers of percent-encoding that are decoded

const toCharacter = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));

/** Masks keys, session ids and continuation tokens; the whole text if one is percent-encoded. */
export function redactKeys(text: string): string {
  const redacted = text.replaceAll(key, (_, prefix: string) => `${prefix.toLowerCase()}…`);
  let decoded = redacted;
  for (let layer = 0; layer < layers && decoded.includes('%'); layer += 1) {
    decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, toCharacter);
    if (decoded.search(key) !== -1) return 'perch_…';
  }
  return redacted;
}

const urlStart = /(?=https?:\/)/i;

/** Matches the characters around texts that are not complete URLs, such as entries of a list. */
const separators = /([\s,"“”`'()<>]+)/;

/** Masks user names and passwords of HTTP URLs, also invalid ones and ones without a scheme. */
export function redactCredentials(text: string): string {
  if (!text.includes('@')) return text;
  const parts = text.split(urlStart).map((part) => {
    if (/^https?:\//i.test(part)) return redactUrl(part);
    return part.split(separators).map(redactWord).join('');
  });
  return parts.join('');
}

function redactUrl(text: string): string {
  const [scheme = ''] = /^https?:\/+/i.exec(text) ?? [];
  const rest = text.slice(scheme.length);
  const [authority = ''] = rest.split(/[/?#\\]/, 1);
  // In an invalid URL, the password can contain any character.
  const end = (parseUrl(text) === null ? rest : authority).lastIndexOf('@');
  return end === -1 ? text : `${scheme}…${rest.slice(end)}`;
}

function redactWord(word: string): string {
  const end = word.lastIndexOf('@');
  const isUser = word.slice(0, Math.max(0, end)).includes(':') && !word.includes('mailto:');
  return isUser ? `…${word.slice(end)}` : word;
}
