import * as z from 'zod';
import { maximums } from './maximums.ts';

/** Creates a schema whose output is `null` if the value is absent or `schema` rejects it. */
export function lenient<S extends z.ZodType>(schema: S) {
  const read = parserOf(schema);
  // An absent value is not parsed, because a failing parse is slow.
  return z.transform((value: unknown) =>
    value === undefined || value === null ? null : read(value),
  );
}

/** Creates a function that parses a value, or returns `null` if the schema rejects it. */
export function parserOf<S extends z.ZodType>(schema: S): (value: unknown) => z.output<S> | null {
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  };
}

/** Adds a validation error in a zod transform. Returns `z.NEVER`, which it must return. */
export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Parsed items of an upstream list, with the number of omitted items. */
export type List<Row> = readonly Row[] & {
  /** Number of malformed items and items beyond the maximum; absent if there are none. */
  readonly leftOut?: number;
};

export const joinLists = <Row>(first: List<Row>, second: List<Row>): List<Row> =>
  toList([...first, ...second], (first.leftOut ?? 0) + (second.leftOut ?? 0));

const toList = <Row>(rows: readonly Row[], leftOut: number): List<Row> =>
  leftOut === 0 ? rows : Object.assign(rows, { leftOut });

/** Number of malformed items at which parsing stops, because failing parses are slow. */
const maxUnreadable = 100;

/** Creates a list schema that skips malformed items, and valid items beyond the first `max`. */
export function listOf<S extends z.ZodType>(schema: S, max: number) {
  return z.transform((rows: unknown): List<z.output<S>> => {
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
 * Creates a schema for a list in which every item matters, such as moderation labels: rejects `max`
 * or more valid items, so that none is lost. Skips up to 99 malformed items, and rejects lists with
 * more.
 */
export function fullListOf<S extends z.ZodType>(schema: S, max: number) {
  return listOf(schema, max).refine(
    ({ length, leftOut = 0 }) => length < max && leftOut < maxUnreadable,
  );
}

/** Keeps one UTF-16 code unit more than `maximums.rawText`, which lets `isCut` detect the cut. */
const cutRaw = (value: string): string => value.slice(0, maximums.rawText + 1);

/** Text, maybe empty. One longer than `maximums.rawText` is cut; `isCut` detects this. */
export const text = z.string().overwrite(cutRaw);

/** Text on one line. One longer than `maximums.rawLine` is rejected. */
export const line = z.string().max(maximums.rawLine);

/** Text that is not blank, cut to `maximums.rawText`. Any other value becomes `null`. */
export const textOrNull = z.transform((value: unknown) =>
  typeof value === 'string' && isFilled(value) ? cutRaw(value) : null,
);

const isFilled = (value: string): boolean => /\S/.test(value);

export const isCut = (value: string | null): boolean =>
  value !== null && value.length > maximums.rawText;

const unprintable = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

const isPrintable = (value: string): boolean => !unprintable.test(value);

/** Short machine-readable text, such as a `type`. Control characters are refused. */
export const token = z.string().max(maximums.token).refine(isPrintable);

/** `token` that is not empty. Any other value becomes `null`. */
export const tokenOrNull = shorterThan(maximums.token);

/** Non-empty text of limited length without control characters. The URL syntax is not checked. */
export const url = z.string().min(1).max(maximums.url).refine(isPrintable);

/** `url`. Any other value becomes `null`. */
export const urlOrNull = shorterThan(maximums.url);

function shorterThan(max: number) {
  return z.transform((value: unknown) =>
    typeof value === 'string' && value !== '' && value.length <= max && isPrintable(value)
      ? value
      : null,
  );
}

/** Number of at least 0. Any other value becomes `null`, such as the -1 of an unknown count. */
export const count = z.transform((value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null,
);
