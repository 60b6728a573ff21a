import type { FoundPassage } from '../index/passage-index.ts';

/** Where each field's count is kept in one number: its first bit, and its maximum. */
const places = {
  body: { shift: 0, most: 1023 },
  code: { shift: 10, most: 1023 },
  title: { shift: 20, most: 1 },
  trail: { shift: 21, most: 1 },
  heading: { shift: 22, most: 1 },
  lead: { shift: 23, most: 1 },
  names: { shift: 24, most: 3 },
} as const;

type UseField = keyof typeof places;

/** Returns how often a term is in a field; for headings and the like only whether it is. */
export function useIn(use: number, field: UseField): number {
  const { shift, most } = places[field];
  return (use >>> shift) & most;
}

/** The use of a term that is only in the first words of the file. */
export const onlyLead: number = 1 << places.lead.shift;

/** Returns all words of a text in lower case, with a space before and after each. */
export function toPlainWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
}

/** Longer headings are no names. */
const maxNameLength = 60;

/** A passage, prepared for comparing it with many questions. */
export type Profile = ReturnType<typeof toProfile>;

/** Prepares a passage for comparing it with many questions. */
export function toProfile(passage: FoundPassage) {
  const uses = new Map<string, number>();
  const { terms, lead } = passage;
  // The names of the fields are those of the terms, and `lead`.
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
    /** How often each term is in each field, as `useIn` reads it. */
    uses,
    /** The number of words of its text and code. */
    words: terms.body.length + terms.code.length,
    /** The heading in one piece, as a name is written. */
    headingName: headingName.length < maxNameLength ? headingName : '',
    plainHeading: toPlainWords(passage.heading),
    isHistory: isHistory(passage),
  };
}

/** Pages about what was, or lists of what is elsewhere: they name much and answer little. */
const historyPath =
  /(?:^|\/)(?:change-?log|changes|history|release-?notes?|releases?|news|upgrad\w+|migrat\w+|blog|decisions|adr|rfcs?|archive|glossary|index|contributing|licen[cs]e|code[-_]of[-_]conduct|tests?|__tests__|fixtures)(?:[-/.]|$)/i;
const historyHeading =
  /^(?:see also|related|further reading|next steps|table of contents|contents|version history|changelog|learn more|references?|index)$/i;

function isHistory({ path, heading }: FoundPassage): boolean {
  return (
    historyPath.test(path.replaceAll(/(^|\/)\d+[-_.]/g, '$1')) ||
    historyHeading.test(heading.trim())
  );
}
