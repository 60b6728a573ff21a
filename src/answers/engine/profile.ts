import type { FoundPassage } from '../index/passage-index.ts';
import { isHistory } from './confidence/priors.ts';

/** A passage, made ready to be judged for many questions. */
export interface Profile {
  readonly passage: FoundPassage;
  /** How often each term is in each field, as `useIn` reads it. */
  readonly uses: ReadonlyMap<string, number>;
  /** The words of its text and code. */
  readonly words: number;
  /** The heading in one piece, as a name is; empty where it is too long for one. */
  readonly headingName: string;
  /** The heading as `toPlainWords` gives it. */
  readonly plainHeading: string;
  readonly isHistory: boolean;
}

/** Where each field's count is kept in one number: the bit that it begins at, and the most it can tell. */
const places = {
  body: { shift: 0, most: 1023 },
  code: { shift: 10, most: 1023 },
  title: { shift: 20, most: 1 },
  trail: { shift: 21, most: 1 },
  heading: { shift: 22, most: 1 },
  lead: { shift: 23, most: 1 },
  names: { shift: 24, most: 3 },
} as const;

/** A field of a passage, or the first words of its file. */
export type UseField = keyof typeof places;

/** Gives how often a term is in a field; of headings and the like only whether it is. */
export function useIn(use: number, field: UseField): number {
  const { shift, most } = places[field];
  return (use >>> shift) & most;
}

/** The use of a term that is only in the first words of the file. */
export const onlyLead: number = 1 << places.lead.shift;

/** Gives the words of a text in small letters, all of them, with a space before and after each. */
export function toPlainWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
}

const lengthOfName = 60;

/** Makes a passage ready to be judged. */
export function toProfile(passage: FoundPassage): Profile {
  const uses = new Map<string, number>();
  const { terms, lead } = passage;
  const fields = Object.entries({ ...terms, lead }) as [UseField, readonly string[]][];
  for (const [field, found] of fields) {
    const { shift, most } = places[field];
    for (const term of found) {
      const use = uses.get(term) ?? 0;
      if (useIn(use, field) < most) uses.set(term, use + (1 << shift));
    }
  }
  const headingName = terms.heading.join('');
  return {
    passage,
    uses,
    words: terms.body.length + terms.code.length,
    headingName: headingName.length < lengthOfName ? headingName : '',
    plainHeading: toPlainWords(passage.heading),
    isHistory: isHistory(passage),
  };
}
