import { z } from 'zod';
import { parseUrl } from '../core/http/url.ts';
import { trimEndOf } from '../core/trim-end.ts';

/** Gives the form of a variable that is a whole number between two others, both included. */
export const wholeNumberFrom = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

/** The same with a default. */
export const wholeNumber = (least: number, most: number, byDefault: number) =>
  wholeNumberFrom(least, most).default(byDefault);

/** Gives the form of a variable that is true or false, in the usual words. */
export const flag = (byDefault: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], 'must be true or false')
    .transform((value) => ['true', '1', 'yes', 'on'].includes(value))
    .default(byDefault);

/** The form of a list of web origins (RFC 6454 §6.2), or `*`. Browsers write an origin in lower case and without its usual port. */
export const originList = z
  .string()
  .transform((value) => value.split(',').map((entry) => entry.trim().toLowerCase()))
  .superRefine((entries, context) => {
    for (const entry of entries) {
      if (entry === '*' || isOrigin(entry)) continue;
      context.addIssue(
        `must be origins such as \`https://app.example.org\`, separated by commas, or \`*\`, not “${entry}”`,
      );
    }
  })
  .transform((entries) => entries.map(toOrigin));

function isOrigin(entry: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(entry) && parseUrl(entry) !== null;
}

/** Only those of the web have an origin by the parser; extensions of browsers have schemes of their own. */
function toOrigin(entry: string): string {
  return /^https?:/.test(entry) ? new URL(entry).origin : entry;
}

/** The form of a base address: no user name, query or fragment; without a slash at its end. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user name, query or fragment')
  // The parser's own form: a host in another script becomes ASCII, as headers need it.
  .transform((value) => trimEndOf(new URL(value).href, '/'));

function isHttpUrl(value: string): boolean {
  const url = /^https?:\/\/\S+$/i.test(value) ? parseUrl(value) : null;
  if (url === null) return false;
  const { username, password, search, hash } = url;
  return /^https?:$/.test(url.protocol) && username + password + search + hash === '';
}
