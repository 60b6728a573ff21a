import type { Page } from '../../model/queries.ts';
import { ProviderError } from '../../normalize/provider-error.ts';

export interface Row<Item> {
  readonly item: Item;
  /** Unix second at which the platform provided the item. */
  readonly stored: number;
  readonly cursor: string;
}

/** Returns one row more than requested, to detect whether more pages follow. */
export const toRowLimit = (count: number): number => Math.max(1, Math.floor(count)) + 1;

/** Creates a page of `count` rows; a further row shows that more follow. */
export function toPage<Item>(
  rows: readonly Row<Item>[],
  count: number,
  { warnings = [], isExact = true }: Partial<Pick<Page<Item>, 'warnings' | 'isExact'>> = {},
): Page<Item> {
  const shown = rows.slice(0, toRowLimit(count) - 1);
  const more = rows.length > shown.length;
  return {
    items: shown.map(({ item }) => item),
    cursor: more ? (shown.at(-1)?.cursor ?? null) : null,
    warnings,
    isExact,
    ...(shown.length > 0 && { asOfMs: Math.min(...shown.map(({ stored }) => stored)) * 1000 }),
  };
}

export const printCursor = (...numbers: readonly number[]): string =>
  numbers.map((number) => number.toString(36)).join('.');

/** Parses a page cursor of `length` numbers. @throws ProviderError `malformed` if it is invalid */
export function parseCursor(cursor: string, length: number): readonly number[] {
  const numbers = cursor.split('.').map((part) => {
    const number = /^[0-9a-z]{1,11}$/.test(part) ? Number.parseInt(part, 36) : Number.NaN;
    return Number.isSafeInteger(number) ? number : Number.NaN;
  });
  if (numbers.length !== length || numbers.some(Number.isNaN)) throw unknownCursor();
  return numbers;
}

export const unknownCursor = (): ProviderError =>
  new ProviderError('malformed', 'This is not a cursor of the archive.');
