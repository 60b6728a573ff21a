import { z } from 'zod';
import { parseUrl } from '../core/http/url.ts';
import { trimEndOf } from '../core/trim-end.ts';

/** Creates the form of a whole number between two others, both included. */
const wholeNumberFrom = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

export const whole = (least: number, most: number, byDefault: number) =>
  wholeNumberFrom(least, most).default(byDefault);

export const maybeWhole = (least: number, most: number) => wholeNumberFrom(least, most).optional();

/** Creates the form of a text that may be missing, and the sentence that refuses another one. */
export const maybeText = (pattern: RegExp, refusal: string) =>
  z.string().regex(pattern, refusal).optional();

/** Creates the form of one of a few words, the first by default. */
export function word<const Words extends readonly [string, ...string[]]>(...words: Words) {
  const refusal = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, refusal).default(words[0]);
}

/** The form of a list, separated by commas. */
export const list = z.string().transform((value) => value.split(',').map((entry) => entry.trim()));

/** Creates a check of a list from one that returns the fault of an entry, or `null`. */
export const each =
  (faultOf: (entry: string) => string | null) =>
  (entries: readonly string[], context: { addIssue(fault: string): void }) => {
    for (const fault of entries.map(faultOf)) {
      if (fault !== null) context.addIssue(fault);
    }
  };

/** Creates the form of true or false, in the usual words. */
export const flag = (byDefault: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], 'must be true or false')
    .transform((value) => ['true', '1', 'yes', 'on'].includes(value))
    .default(byDefault);

/** The form of a list of web origins (RFC 6454 §6.2) as browsers write them, or `*`; by default empty. */
export const origins = z
  .string()
  .toLowerCase()
  .pipe(list)
  .superRefine(each(originFault))
  // Only those of the web have an origin by the parser; extensions of browsers have schemes of their own.
  .transform((entries) => entries.map((one) => (/^https?:/.test(one) ? new URL(one).origin : one)))
  .default([]);

function originFault(entry: string): string | null {
  const isOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(entry) && parseUrl(entry) !== null;
  if (entry === '*' || isOrigin) return null;
  return `must be origins such as \`https://app.example.org\`, separated by commas, or \`*\`, not “${entry}”`;
}

/** The form of a base address: no user name, query or fragment; without a slash at its end. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user name, query or fragment')
  // The parser's own form: a host in another script becomes ASCII, as headers need it.
  .transform((value) => trimEndOf(new URL(value).href, '/'));

export const maybeUrl = httpUrl.optional();

function isHttpUrl(value: string): boolean {
  const url = /^https?:\/\/\S+$/i.test(value) ? parseUrl(value) : null;
  if (url === null) return false;
  const { username, password, search, hash } = url;
  return /^https?:$/.test(url.protocol) && username + password + search + hash === '';
}
