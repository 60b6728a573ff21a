import { createHash } from 'node:crypto';

/** A place in a list: what a cursor holds. */
export interface ListPosition {
  /** The provider that the walk stays with; null where none has answered yet. */
  readonly provider: string | null;
  /** The provider's own cursor of the page where the next item is; null for its first page. */
  readonly cursor: string | null;
  /** How many items of that page the walk has given already. */
  readonly taken: number;
  /** The number of the next page of the walk, from 1. */
  readonly page: number;
  /** How many pages in a row the walk has found nothing. */
  readonly fruitless: number;
  /** Marks of the items given last, oldest first; see `toMark`. Empty where pages never overlap. */
  readonly recent: readonly number[];
}

/** The most marks that a position keeps. */
export const maxRecent = 96;

/** The beginning of a list. */
export const startOfList: ListPosition = {
  provider: null,
  cursor: null,
  taken: 0,
  page: 1,
  fruitless: 0,
  recent: [],
};

/** Gives the fingerprint of an item's id: 48 bits, so that two of a walk are never the same. */
export function toFingerprint(id: string): number {
  return createHash('sha256').update(id).digest().readUIntBE(0, 6);
}

/**
 * Gives a mark as a fingerprint that stands for any item with it: below zero, so that it is no
 * fingerprint of an item. A walk whose items are not remembered goes on with these.
 */
export function fromMark(mark: number): number {
  return -1 - mark;
}

/** Gives the mark of a fingerprint: its lower 32 bits, which is what a position has room for. */
export function toMark(fingerprint: number): number {
  return fingerprint < 0 ? -1 - fingerprint : fingerprint % 2 ** 32;
}
