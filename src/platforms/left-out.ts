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
