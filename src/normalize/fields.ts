import type { List } from './lenient.ts';

export interface Lossy {
  readonly left_out?: readonly string[] | undefined;
}

/** Returns the names of the lists from which malformed or excess items were omitted. */
export function findLeftOut(
  lists: Readonly<Record<string, readonly (List<unknown> | undefined)[]>>,
): readonly string[] {
  return Object.entries(lists)
    .filter(([, parts]) => parts.some((list) => list?.leftOut !== undefined))
    .map(([name]) => name);
}

export function nameLeftOut<T extends Lossy>(whole: T, names: readonly string[]): T {
  if (names.length === 0) return whole;
  return { ...whole, left_out: [...new Set([...(whole.left_out ?? []), ...names])] };
}

export function omitNull<T extends object>(
  members: T,
): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => (value ?? null) !== null);
  // The remaining entries are members of `T` that are neither `null` nor `undefined`.
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

/** Returns the share in percent, rounded to one decimal place; `null` if a count is `null`. */
export function toPercentage(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
