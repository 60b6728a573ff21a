import * as z from 'zod';
import { toIsoSeconds } from '../lib/clock.ts';
import type { JsonSchema } from '../lib/json-schema.ts';
import { Problem, type ProblemCode, quoteInput } from '../lib/problem.ts';
import { nearestChoice } from '../lib/suggest.ts';

/** Error of a parameter. `accepts` lists valid values and completes “It must be …”. */
type ParameterFault = Readonly<{
  code: ProblemCode;
  accepts: string;
  /** Words among the valid values. Errors suggest the one similar to the given value. */
  words?: readonly string[];
}>;

const parameterTexts = z.registry<{ readonly toText: (value: never) => string }>();

const parameterFaults = z.registry<ParameterFault>();

/** Published JSON Schemas. The server also accepts other values, such as upper-case words. */
export const parameterSchemas = z.registry<JsonSchema>();

function parameter<Schema extends z.ZodType>(
  schema: Schema,
  { jsonSchema, ...fault }: ParameterFault & { readonly jsonSchema?: JsonSchema },
): Schema {
  parameterFaults.add(schema, fault);
  if (jsonSchema !== undefined) parameterSchemas.add(schema, jsonSchema);
  return schema;
}

/** Creates a parameter that accepts one of several words, in any letter case. */
export function choice<const Values extends readonly [string, ...string[]]>(
  code: ProblemCode,
  values: Values,
) {
  const words = values.map((value) => `\`${value}\``);
  const accepts = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const jsonSchema = { type: 'string', enum: values };
  const fault = { code, accepts, words: values };
  return parameter(z.string().toLowerCase().pipe(z.enum(values)), { ...fault, jsonSchema });
}

export const optionalChoice = <const Values extends readonly [string, ...string[]]>(
  ...[code, values]: [ProblemCode, Values]
) => choice(code, values).optional();

const textOrScalar = z.union([z.string(), z.int(), z.boolean()]).transform(String);

/** Creates a boolean parameter: `true`, `1`, `yes`, `false`, `0` or `no` in any letter case. */
export function flag(byDefault: boolean) {
  const schema = z
    .string()
    .toLowerCase()
    .regex(/^(?:true|1|yes|false|0|no)$/)
    .transform((value) => ['true', '1', 'yes'].includes(value));
  return parameter(textOrScalar.pipe(schema), {
    code: 'invalid_option',
    accepts: '`true`, `false`, `1`, `0`, `yes` or `no`',
    words: ['true', 'false', 'yes', 'no'],
    jsonSchema: { type: 'boolean' },
  }).default(byDefault);
}

export const freeText = (code: ProblemCode) => parameter(z.string(), { code, accepts: 'text' });

/** Creates the parameter `thread`: `off`, `full`, `conversation`, `whole` or 2 to 100 posts. */
export function threadMode() {
  const modes = ['off', 'full', 'conversation', 'whole'] as const;
  const pattern = /^(?:[2-9]|[1-9]\d|100)$/;
  const mode = z.union([z.enum(modes), z.string().regex(pattern).transform(Number)]);
  const counts = { type: 'integer', minimum: 2, maximum: 100 };
  return parameter(textOrScalar.pipe(z.string().toLowerCase().pipe(mode)), {
    code: 'invalid_thread',
    accepts: '`off`, `full`, `conversation`, `whole` or a count from 2 to 100',
    words: modes,
    jsonSchema: { anyOf: [{ type: 'string', enum: modes }, counts] },
  });
}

type Range = Readonly<{ min: number; max: number }>;

function count({ min, max }: Range, pattern: RegExp, toNumber: (text: string) => number) {
  const digits = z.string().regex(pattern).transform(toNumber);
  return textOrScalar.pipe(digits.refine((number) => number >= min && number <= max));
}

/** Creates a parameter for a whole number from 1; a number above `max` is clamped. */
export function clampedCount(max: number) {
  return parameter(
    count({ min: 1, max }, /^\d+$/, (text) => Math.min(Number(text), max)),
    {
      code: 'invalid_option',
      accepts: `a whole number of 1 or more; a number above ${max} counts as ${max}`,
      jsonSchema: { type: 'integer', minimum: 1 },
    },
  );
}

/** Creates a parameter that accepts a whole number from `min` to `max`. */
export function wholeNumber(max: number, min = 1) {
  return parameter(count({ min, max }, /^\d{1,15}$/, Number), {
    code: 'invalid_option',
    accepts: `a whole number from ${min} to ${max}`,
    jsonSchema: { type: 'integer', minimum: min, maximum: max },
  });
}

const shortestText = 2000;
const longestText = 400_000;

/** Creates `max_chars`. `left`: the items that are left out of a text that is too long. */
export const textLimit = (left: string) =>
  wholeNumber(longestText, shortestText)
    .optional()
    .describe(
      `Maximum number of characters of the text, ${shortestText} to ${longestText}. Longer texts are shortened: ${left}.`,
    );

/** Creates an optional time, parsed to Unix seconds. Its description starts with `about`. */
export function timestamp(about: string) {
  const schema = textOrScalar.transform((text, context) => {
    const seconds = parseTimestamp(text);
    if (seconds === null) context.addIssue('is not a time');
    return seconds ?? 0;
  });
  parameterTexts.add(schema, { toText: (seconds: number) => toIsoSeconds(seconds * 1000) });
  return parameter(schema, {
    code: 'invalid_option',
    accepts:
      'an ISO 8601 date from 1970 on such as `2026-01-31`, a date-time such as `2026-01-31T12:00:00Z` (UTC if it has no time zone; in a URL write `+` as `%2B`), or Unix seconds, not milliseconds',
    jsonSchema: {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
        { type: 'integer', minimum: 0, maximum: lastSecond },
      ],
    },
  })
    .optional()
    .describe(`${about}: \`2026-01-31\`, \`2026-01-31T12:00Z\` or Unix seconds.`);
}

const lastSecond = 253_402_300_799;

/** Pattern of Unix seconds. Four digits that look like a year, such as `2024`, do not match. */
const unixSeconds = /^(?!(?:19|20)\d\d$)\d{1,12}$/;
const isoTime = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

function parseTimestamp(text: string): number | null {
  if (unixSeconds.test(text)) return Number(text) <= lastSecond ? Number(text) : null;
  const [, day = '', time = '00:00', zone = 'Z'] = isoTime.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // `Date.parse` turns 30 February into 2 March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return null;
  const ms = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / 1000);
}

/** Checks a time range. @throws Problem `invalid_option` if `since` is not before `until` */
export function refuseEmptyRange(since: number | undefined, until: number | undefined): void {
  if (since === undefined || until === undefined || since < until) return;
  const detail = 'The parameter `since` must be a time before `until`.';
  throw new Problem('invalid_option', { detail, param: 'since' });
}

/** Ignores parameters outside `schema`. @throws Problem for the first invalid or repeated one */
export function parseParameters<Schema extends z.ZodObject>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = new Map(parsed.error.issues.map((issue) => [String(issue.path[0]), issue]));
  const name = Object.keys(schema.shape).find((one) => issues.has(one)) ?? '';
  if (Array.isArray(given[name])) {
    const detail = `The parameter \`${name}\` is given more than once. Send it once.`;
    throw new Problem('invalid_option', { detail, param: name });
  }
  const { code, accepts, words = [] } = faultOf(schema.shape[name]);
  const fault = describeFault(given[name], issues.get(name));
  const advice = `It must be ${accepts}.${suggestChoice(given[name], words)}`;
  const detail = `The parameter \`${name}\` ${fault}. ${advice}`;
  throw new Problem(code, { detail, param: name });
}

/** Returns a question with the most similar choice; an empty string if none is similar. */
export function suggestChoice(value: unknown, choices: readonly string[]): string {
  const near = typeof value === 'string' ? nearestChoice(value, choices) : undefined;
  return near === undefined ? '' : ` Did you mean \`${near}\`?`;
}

function describeFault(value: unknown, issue: z.core.$ZodIssue | undefined): string {
  if (value === undefined) return 'is missing';
  if (typeof value === 'object') return 'is an object';
  // Only schemas of plain text have this issue; the others accept JSON numbers and booleans too.
  if (issue?.code === 'invalid_type') return `is a ${typeof value}`;
  return `has the value ${quoteInput(String(value))}`;
}

export function faultOf(schema: unknown): ParameterFault {
  const fault = parameterFaults.get(unwrap(schema));
  return fault ?? { code: 'invalid_option', accepts: 'another value' };
}

function unwrap(schema: unknown): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  // All request parameters are created by the functions above, so the schema is a zod type.
  return (isWrapped ? schema.unwrap() : schema) as z.ZodType;
}

export type SomeOf<Params> = { readonly [Name in keyof Params]?: Params[Name] | undefined };

const withoutEffect: ReadonlySet<string> = new Set(['format', 'nocache']);

/** Returns parameters that change a reply, in schema order and parsable to `parsed` again. */
export function listEffective<Schema extends z.ZodObject>(
  { shape }: Schema,
  parsed: SomeOf<z.output<Schema>>,
): [name: string, text: string][] {
  const values: Readonly<Record<string, unknown>> = parsed;
  const listed: [name: string, text: string][] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const value = values[name];
    const standard = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
    if (withoutEffect.has(name) || value === undefined || value === standard) continue;
    const { toText } = parameterTexts.get(unwrap(schema)) ?? { toText: String };
    listed.push([name, toText(value as never)]);
  }
  return listed;
}

/** Returns the URL under `/api/v1` without `format` and `nocache`. */
export function toReplyUrl<Schema extends z.ZodObject>(
  schema: Schema,
  parsed: SomeOf<z.output<Schema>>,
  { baseUrl, path }: { readonly baseUrl: string; readonly path: string },
): string {
  const search = new URLSearchParams(listEffective(schema, parsed));
  return `${baseUrl}/api/v1${path}${search.size === 0 ? '' : `?${search}`}`;
}
