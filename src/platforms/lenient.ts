import { z } from 'zod';
import { maximums } from './maximums.ts';

const anything = z.unknown().optional();

/** Creates a schema whose output is `null` if the value is absent or `schema` rejects it. */
export function lenient<S extends z.ZodType>(schema: S) {
  const read = parserOf(schema);
  // An absent value is not parsed, because a failing parse is slow.
  return anything.transform((value) => (value === undefined ? null : read(value)));
}

/** Creates a function that parses a value, and returns `null` if the schema rejects it. */
export function parserOf<S extends z.ZodType>(schema: S): (value: unknown) => z.output<S> | null {
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  };
}

/** Adds a validation error in a zod transform. Returns `z.NEVER`, which the transform must return. */
export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Array of the successfully parsed items of an upstream list, with the number of omitted items. */
export type List<Row> = readonly Row[] & {
  /**
   * Number of omitted items: malformed items, and items beyond the maximum length of the list;
   * absent if no items were omitted.
   */
  readonly leftOut?: number;
};

export const joinLists = <Row>(first: List<Row>, second: List<Row>): List<Row> =>
  toList([...first, ...second], (first.leftOut ?? 0) + (second.leftOut ?? 0));

const toList = <Row>(rows: readonly Row[], leftOut: number): List<Row> =>
  leftOut === 0 ? rows : Object.assign(rows, { leftOut });

/** Number of malformed items in a list at which the parsing of the list stops, because failing parses are slow. */
const maxUnreadable = 100;

/** Creates a schema for a list. The schema skips malformed items, and omits valid items beyond the first `max`. */
export function listOf<S extends z.ZodType>(schema: S, max: number) {
  return anything.transform((rows): List<z.output<S>> => {
    if (!Array.isArray(rows) || rows.length === 0) return [];
    return readEach(rows, schema, max);
  });
}

function readEach<S extends z.ZodType>(rows: readonly unknown[], schema: S, max: number) {
  const found: z.output<S>[] = [];
  let unreadable = 0;
  for (const row of rows) {
    if (found.length >= max || unreadable >= maxUnreadable) break;
    const parsed = schema.safeParse(row);
    if (parsed.success) found.push(parsed.data);
    else unreadable += 1;
  }
  return toList(found, rows.length - found.length);
}

/**
 * Creates a schema for a list in which every item matters, such as a list of moderation labels. Accepts fewer than
 * `max` valid items and rejects longer lists, so that no valid item is lost. Skips up to 99 malformed items, and
 * rejects lists with more of them.
 */
export function fullListOf<S extends z.ZodType>(schema: S, max: number) {
  return listOf(schema, max).refine(
    ({ length, leftOut = 0 }) => length < max && leftOut < maxUnreadable,
  );
}

/**
 * Cuts a text to `maximums.rawText` plus one UTF-16 code unit. The additional code unit lets `isCut` detect the cut.
 */
const cutRaw = (value: string): string => value.slice(0, maximums.rawText + 1);

/** Schema of a text, which may be empty. A text longer than `maximums.rawText` is cut; `isCut` detects this. */
export const text = z.string().transform(cutRaw);

/** Schema of a text on one line. A text longer than `maximums.rawLine` is rejected. */
export const line = z.string().max(maximums.rawLine);

/**
 * Schema of a text that is not empty or blank. A text longer than `maximums.rawText` is cut. Any other value becomes
 * `null`.
 */
export const textOrNull = anything.transform((value) =>
  typeof value === 'string' && isFilled(value) ? cutRaw(value) : null,
);

const isFilled = (value: string): boolean => /\S/.test(value);

export const isCut = (value: string | null): boolean =>
  value !== null && value.length > maximums.rawText;

const unprintable = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

const isPrintable = (value: string): boolean => !unprintable.test(value);

/** Schema of a short machine-readable text, such as the value of a `type` field. Refuses control characters. */
export const token = z.string().max(maximums.token).refine(isPrintable);

/** Schema of a `token` that is not empty. Any other value becomes `null`. */
export const tokenOrNull = shorterThan(maximums.token);

/** Schema of a URL: a non-empty text of limited length without control characters. Does not check the syntax of the URL. */
export const url = z.string().min(1).max(maximums.url).refine(isPrintable);

/** Schema of a `url`. Any other value becomes `null`. */
export const urlOrNull = shorterThan(maximums.url);

function shorterThan(max: number) {
  return anything.transform((value) =>
    typeof value === 'string' && value !== '' && value.length <= max && isPrintable(value)
      ? value
      : null,
  );
}

/** Schema of a finite number of at least 0. Any other value becomes `null`, such as the -1 of an unknown count. */
export const count = anything.transform((value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null,
);
