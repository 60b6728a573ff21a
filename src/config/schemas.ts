import * as z from 'zod';
import { parseUrl } from '../lib/http/url.ts';
import { trimEndOf } from '../lib/text.ts';

const integerFrom = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`);

export const integer = (least: number, most: number, byDefault: number) =>
  integerFrom(least, most).default(byDefault);

export const optionalInteger = (least: number, most: number) => integerFrom(least, most).optional();

/** Creates a schema. `requirement`: error message for strings that do not match `pattern`. */
export const text = (pattern: RegExp, requirement: string) =>
  z.string().regex(pattern, requirement).optional();

/** Creates the schema of an enumeration. The first value is the default. */
export function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  const requirement = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, requirement).default(words[0]);
}

/** Marks a setting as secret: never printed, and also settable by a file in `NAME_FILE`. */
export const secret = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema.meta({ ...schema.meta(), isSecret: true });

export const isSecret = (schema: z.ZodType): boolean => schema.meta()?.isSecret === true;

export const list = z.string().transform((value) => value.split(',').map((entry) => entry.trim()));

/** Creates a zod refinement of lists. `faultOf` returns an entry's error message, or `null`. */
export const checkEach =
  (faultOf: (entry: string) => string | null) =>
  (entries: readonly string[], context: { addIssue(fault: string): void }) => {
    for (const fault of entries.map(faultOf)) {
      if (fault !== null) context.addIssue(fault);
    }
  };

/** Creates the schema of a boolean: `true`, `1`, `yes`, `on`, or `false`, `0`, `no`, `off`. */
export const flag = (byDefault: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], 'must be true or false')
    .transform((value) => ['true', '1', 'yes', 'on'].includes(value))
    .default(byDefault);

/** Schema of a list of web origins (RFC 6454 §6.2), or `*`. Default: empty list. */
export const origins = z
  .string()
  .toLowerCase()
  .pipe(list)
  .superRefine(checkEach(originFault))
  // The URL parser computes origins for http and https only. Browser extensions have their own
  // schemes.
  .transform((entries) => entries.map((one) => (/^https?:/.test(one) ? new URL(one).origin : one)))
  .default([]);

function originFault(entry: string): string | null {
  const isOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(entry) && parseUrl(entry) !== null;
  if (entry === '*' || isOrigin) return null;
  return `must be origins such as \`https://app.example.org\`, separated by commas, or \`*\`, not “${entry}”`;
}

/** Schema of a base URL without user name, query or fragment. Trailing slashes are removed. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user name, query or fragment')
  // The parser turns an internationalized host name into ASCII, which HTTP headers require.
  .transform((value) => trimEndOf(new URL(value).href, '/'));

function isHttpUrl(value: string): boolean {
  const url = /^https?:\/\/\S+$/i.test(value) ? parseUrl(value) : null;
  if (url === null) return false;
  const { username, password, search, hash } = url;
  return /^https?:$/.test(url.protocol) && username + password + search + hash === '';
}
