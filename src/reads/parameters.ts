import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import type { JsonSchema } from '../core/json-schema.ts';
import { nearestChoice } from '../core/near-choice.ts';
import { Problem, type ProblemCode, quoteInput } from '../core/problem.ts';

/**
 * Error code for invalid values of a parameter. `accepts` lists the valid values and completes the
 * sentence “It must be …”.
 */
type ParameterFault = Readonly<{
  code: ProblemCode;
  accepts: string;
  /** Words among the valid values. The error suggests the one that is similar to the given value. */
  words?: readonly string[];
}>;

const parameterTexts = z.registry<{ readonly toText: (value: never) => string }>();

/**
 * Error code and valid values of each parameter, for error messages. They are not in `parameterSchemas`, because the
 * published JSON Schemas do not contain them.
 */
const parameterFaults = z.registry<ParameterFault>();

/**
 * JSON Schema of each parameter for the published documents. The server also accepts some values
 * that a schema does not contain, such as words in upper case.
 */
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

/** Creates a boolean parameter with the values `true`, `1`, `yes`, `false`, `0` and `no` in any letter case. */
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

/** Creates the `thread` parameter: `off`, `full`, `conversation` or a number of posts from 2 to 100. */
export function threadMode() {
  const modes = ['off', 'full', 'conversation'] as const;
  const pattern = /^(?:[2-9]|[1-9]\d|100)$/;
  const mode = z.union([z.enum(modes), z.string().regex(pattern).transform(Number)]);
  const counts = { type: 'integer', minimum: 2, maximum: 100 };
  return parameter(textOrScalar.pipe(z.string().toLowerCase().pipe(mode)), {
    code: 'invalid_thread',
    accepts: '`off`, `full`, `conversation` or a count from 2 to 100',
    words: modes,
    jsonSchema: { anyOf: [{ type: 'string', enum: modes }, counts] },
  });
}

type Range = Readonly<{ min: number; max: number }>;

function count({ min, max }: Range, pattern: RegExp, toNumber: (text: string) => number) {
  const digits = z.string().regex(pattern).transform(toNumber);
  return textOrScalar.pipe(digits.refine((number) => number >= min && number <= max));
}

/** Creates a parameter that accepts a whole number of 1 or more; a number above `max` is clamped to `max`. */
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

/** Creates the parameter `max_chars`. `left`: the items that are left out of a text that is too long. */
export const textLimit = (left: string) =>
  wholeNumber(longestText, shortestText)
    .optional()
    .describe(
      `Maximum number of characters of the text, ${shortestText} to ${longestText}. Longer texts are shortened: ${left}.`,
    );

/** Creates an optional time parameter, parsed to Unix seconds. The description of the parameter starts with `about`. */
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

/**
 * Parses those parameters that `schema` defines, and ignores others.
 * @throws Problem for the first invalid or repeated parameter
 */
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

/** Returns a question that suggests the most similar choice; an empty string if no choice is similar. */
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

/** Returns the error code for invalid values of a request parameter, and a description of the valid values. */
export function faultOf(schema: unknown): ParameterFault {
  const fault = parameterFaults.get(unwrap(schema));
  return fault ?? { code: 'invalid_option', accepts: 'another value' };
}

function unwrap(schema: unknown): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  // All request parameters are created by the functions above, so the schema is a zod type.
  return (isWrapped ? schema.unwrap() : schema) as z.ZodType;
}

/** Parsed parameters of a read, of which any may be absent. */
export type SomeOf<Params> = { readonly [Name in keyof Params]?: Params[Name] | undefined };

const withoutEffect: ReadonlySet<string> = new Set(['format', 'nocache']);

/**
 * Returns the names and values of those parameters that change the content of a reply, in the order of the schema:
 * without `format` and `nocache`, and without parameters that are absent or have their default values. `parseParameters`
 * parses the values to `parsed` again.
 */
export function listEffective<Schema extends z.ZodObject>(
  { shape }: Schema,
  parsed: SomeOf<z.output<Schema>>,
): readonly (readonly [name: string, text: string])[] {
  const values: Readonly<Record<string, unknown>> = parsed;
  return Object.entries(shape).flatMap(([name, schema]) => {
    const value = values[name];
    const standard = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
    if (withoutEffect.has(name) || value === undefined || value === standard) return [];
    const { toText } = parameterTexts.get(unwrap(schema)) ?? { toText: String };
    return [[name, toText(value as never)] as const];
  });
}

/** Returns the URL under `/api/v1` of a reply with the given parameters, without `format` and `nocache`. */
export function toReplyUrl<Schema extends z.ZodObject>(
  schema: Schema,
  parsed: SomeOf<z.output<Schema>>,
  { baseUrl, path }: { readonly baseUrl: string; readonly path: string },
): string {
  const search = new URLSearchParams(listEffective(schema, parsed).map(([...pair]) => pair));
  return `${baseUrl}/api/v1${path}${search.size === 0 ? '' : `?${search}`}`;
}
