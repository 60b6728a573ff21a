import { z } from 'zod';
import { maximums } from './maximums.ts';

const anything = z.unknown().optional();

/** Creates a schema for a value that may be absent or malformed: `null` unless `schema` reads it. */
export function lenient<S extends z.ZodType>(schema: S) {
  const read = readerOf(schema);
  // Nothing to read saves a failing parse, the slowest path.
  return anything.transform((value) => (value === undefined ? null : read(value)));
}

/** Creates a function that returns what a schema reads, and `null` for anything else. */
export function readerOf<S extends z.ZodType>(schema: S): (value: unknown) => z.output<S> | null {
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : null;
  };
}

/** Makes a transform fail, so that what it reads is unreadable. */
export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** The members of a list that were read. */
export type List<Row> = readonly Row[] & {
  /** How many members were not: beyond the maximum of the list, or unreadable. */
  readonly leftOut?: number;
};

export function joinLists<Row>(one: List<Row>, other: List<Row>): List<Row> {
  return toList([...one, ...other], (one.leftOut ?? 0) + (other.leftOut ?? 0));
}

function toList<Row>(rows: readonly Row[], leftOut: number): List<Row> {
  return leftOut === 0 ? rows : Object.assign(rows, { leftOut });
}

/** Maximum number of unreadable members of a list that are read: a failing parse is slow. */
const maxUnreadable = 100;

/** Creates a schema for a list of which at most `max` members are read, and unreadable ones skipped. */
export function eachOf<S extends z.ZodType>(schema: S, max: number) {
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

/** Creates a schema for a list whose members hide its owner: an overlong one is an error. */
export function wholeOf<S extends z.ZodType>(schema: S, max: number) {
  return eachOf(schema, max).refine(
    ({ length, leftOut = 0 }) => length < max && leftOut < maxUnreadable,
  );
}

/** A text, which may be empty. It is cut at the maximum; see `isCut`. */
export const text = z.string().transform(cutRaw);

/** A text of one line. A longer one than `maximums.rawLine` is unreadable. */
export const line = z.string().max(maximums.rawLine);

/** A text that is not empty, cut like `text`; `null` for anything else. */
export const words = anything.transform((value) =>
  typeof value === 'string' && value !== '' ? cutRaw(value) : null,
);

/** Keeps one unit more than the maximum, by which `isCut` knows a text that was cut. */
function cutRaw(value: string): string {
  return value.slice(0, maximums.rawText + 1);
}

export function isCut(value: string | null): boolean {
  return value !== null && value.length > maximums.rawText;
}

/** A short word for programs, such as a type. */
export const token = z.string().max(maximums.token);

/** A short word that is not empty; `null` for anything else. */
export const term = shorterThan(maximums.token);

/** A URL, or what should be one. */
export const url = z.string().min(1).max(maximums.url);

/** A URL, or what should be one; `null` for anything else. */
export const address = shorterThan(maximums.url);

function shorterThan(max: number) {
  return anything.transform((value) =>
    typeof value === 'string' && value !== '' && value.length <= max ? value : null,
  );
}

/** A number; `null` for anything else. */
export const count = anything.transform((value) =>
  typeof value === 'number' && Number.isFinite(value) ? value : null,
);
