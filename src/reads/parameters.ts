import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import type { JsonSchema } from '../core/json-schema.ts';
import { Problem, type ProblemCode, quoteInput } from '../core/problem.ts';

interface ParameterFault {
  readonly code: ProblemCode;
  /** The accepted form, as the end of a sentence: “it takes …”. */
  readonly accepts: string;
}

/** The faults of each parameter, outside of the schemas, so that no document has them. */
const parameterFaults = z.registry<ParameterFault>();

/** The usual values of parameters for machine descriptions; some take others besides, such as any case. */
export const parameterForms = z.registry<JsonSchema>();

function parameter<Schema extends z.ZodType>(
  schema: Schema,
  { form, ...fault }: ParameterFault & { readonly form?: JsonSchema },
): Schema {
  parameterFaults.add(schema, fault);
  if (form !== undefined) parameterForms.add(schema, form);
  return schema;
}

/** Creates a parameter that takes one of a few words, in any case. */
export function choice<const Values extends readonly [string, ...string[]]>(
  code: ProblemCode,
  values: Values,
) {
  const words = values.map((value) => `\`${value}\``);
  const accepts = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const form = { type: 'string', enum: values };
  return parameter(z.string().toLowerCase().pipe(z.enum(values)), { code, accepts, form });
}

export const optionalChoice = <const Values extends readonly [string, ...string[]]>(
  ...[code, values]: [ProblemCode, Values]
) => choice(code, values).optional();

/** Text, or the JSON number or boolean that means the same, as in arguments of MCP tools. */
const textOrScalar = z.union([z.string(), z.int(), z.boolean()]).transform(String);

/** Creates a boolean parameter, in any case. */
export function truth(byDefault: boolean) {
  const schema = z
    .string()
    .toLowerCase()
    .regex(/^(?:true|1|yes|false|0|no)$/)
    .transform((value) => ['true', '1', 'yes'].includes(value));
  return parameter(textOrScalar.pipe(schema), {
    code: 'invalid_option',
    accepts: '`true`, `false`, `1`, `0`, `yes` or `no`',
    form: { type: 'boolean' },
  }).default(byDefault);
}

export const freeText = (code: ProblemCode) => parameter(z.string(), { code, accepts: 'text' });

/** Creates the `thread` parameter: `off`, `full`, `conversation` or a count from 2 to 100. */
export function threadMode() {
  const modes = ['off', 'full', 'conversation'] as const;
  const pattern = /^(?:[2-9]|[1-9]\d|100)$/;
  const mode = z.union([z.enum(modes), z.string().regex(pattern).transform(Number)]);
  const counts = { type: 'integer', minimum: 2, maximum: 100 };
  return parameter(textOrScalar.pipe(z.string().toLowerCase().pipe(mode)), {
    code: 'invalid_thread',
    accepts: '`off`, `full`, `conversation` or a count from 2 to 100',
    form: { anyOf: [{ type: 'string', enum: modes }, counts] },
  });
}

function count(most: number, pattern: RegExp, toNumber: (text: string) => number) {
  const digits = z.string().regex(pattern).transform(toNumber);
  return textOrScalar.pipe(digits.refine((number) => number >= 1 && number <= most));
}

/** Creates a parameter that takes a whole number from 1 on; one over `most` is clamped to it. */
export function clampedCount(most: number) {
  return parameter(
    count(most, /^\d+$/, (text) => Math.min(Number(text), most)),
    {
      code: 'invalid_option',
      accepts: `a whole number from 1 to ${most}; a larger one counts as ${most}`,
      form: { type: 'integer', minimum: 1 },
    },
  );
}

/** Creates a parameter that takes a whole number from 1 to `most`. */
export function wholeNumber(most: number) {
  return parameter(count(most, /^\d{1,15}$/, Number), {
    code: 'invalid_option',
    accepts: `a whole number from 1 to ${most}`,
    form: { type: 'integer', minimum: 1, maximum: most },
  });
}

/** Creates an optional parameter that takes a moment; its value is Unix seconds. */
export function moment() {
  const schema = textOrScalar.transform((text, context) => {
    const seconds = parseMoment(text);
    if (seconds === null) context.addIssue('is no moment');
    return seconds ?? 0;
  });
  return parameter(schema, {
    code: 'invalid_option',
    accepts:
      'an ISO 8601 date from 1970 on such as `2026-01-31`, a date-time such as `2026-01-31T12:00:00Z` (UTC where it names no zone; in a URL `+` is written `%2B`), or Unix seconds, not milliseconds',
    form: {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
        { type: 'integer', minimum: 0, maximum: lastSecond },
      ],
    },
  }).optional();
}

/** Returns a moment as a parameter takes it, always in the same form; `undefined` for `null`. */
export const printMoment = (seconds: number | null): string | undefined =>
  seconds === null ? undefined : toIsoSeconds(seconds * 1000);

const lastSecond = 253_402_300_799;

/** Four digits alone are a year that lacks its month, not the first hour of 1970. */
const unixSeconds = /^(?!(?:19|20)\d\d$)\d{1,12}$/;
const isoMoment =
  /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

function parseMoment(text: string): number | null {
  if (unixSeconds.test(text)) return Number(text) <= lastSecond ? Number(text) : null;
  const [, day = '', time = '00:00', zone = 'Z'] = isoMoment.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // The parser takes 30 February for 2 March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return null;
  const ms = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / 1000);
}

/** @throws Problem `invalid_option` if no moment can be between the two */
export function refuseEmptyRange(since: number | undefined, until: number | undefined): void {
  if (since === undefined || until === undefined || since < until) return;
  throw new Problem('invalid_option', {
    detail: 'The parameter `since` is not before `until`; no post can be in between.',
  });
}

/**
 * Parses the parameters of a request, without unknown ones.
 *
 * @throws Problem with the code of the first parameter at fault, `invalid_option` for one that is given twice
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
    throw new Problem('invalid_option', {
      detail: `The parameter \`${name}\` is given more than once; it takes one value.`,
    });
  }
  const { code, accepts } = faultOf(schema.shape[name]);
  const fault = describeFault(given[name], issues.get(name));
  throw new Problem(code, { detail: `The parameter \`${name}\` ${fault}; it takes ${accepts}.` });
}

function describeFault(value: unknown, issue: z.core.$ZodIssue | undefined): string {
  if (value === undefined) return 'is missing';
  if (typeof value === 'object') return 'is an object';
  // Only a schema of text has this issue; the others take JSON numbers and booleans too.
  if (issue?.code === 'invalid_type') return `is a ${typeof value}`;
  return `has the value ${quoteInput(String(value))}`;
}

/** Returns the code and the accepted form for a value that a read's parameter does not take. */
export function faultOf(schema: unknown): ParameterFault {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  const inner = isWrapped ? schema.unwrap() : schema;
  // The parameters of this file are the only schemas that reads are made of.
  const fault = parameterFaults.get(inner as z.ZodType);
  return fault ?? { code: 'invalid_option', accepts: 'another value' };
}
