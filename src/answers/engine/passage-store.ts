import { LRUCache } from 'lru-cache';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';

/** Maximum bytes of ids of passages that are kept, half of it for each place of a term. */
const maxPostingBytes = 8_000_000;
/** Maximum number of passages that are kept, about 15 KiB each. */
const maxProfiles = 1500;

/** One state of the passages of an index. What was read is kept, within bounds. */
export type PassageStore = ReturnType<typeof createPassageStore>;

/** Creates a store for the current state of an index. */
export function createPassageStore(index: PassageIndex) {
  const postingsOf = (where: 'anywhere' | 'above') => {
    const kept = new LRUCache<string, Uint32Array>({
      maxSize: maxPostingBytes / 2,
      sizeCalculation: (ids) => Math.max(1, ids.byteLength),
      memoMethod: (term) => Uint32Array.from(index.postings(term, where)),
    });
    return (term: string) => kept.memo(term);
  };
  const profiles = new LRUCache<number, Profile>({ max: maxProfiles });
  return {
    /** One more than the highest id of a passage. */
    span: index.span(),
    anywhere: postingsOf('anywhere'),
    /** Returns the ids of the passages that have a term in a title, a heading or a name. */
    above: postingsOf('above'),
    profile: (id: number): Profile | undefined => {
      const kept = profiles.get(id);
      if (kept !== undefined) return kept;
      const passage = index.passage(id);
      if (passage === undefined) return undefined;
      const profile = toProfile(passage);
      profiles.set(id, profile);
      return profile;
    },
  };
}

/** Place of each field's count in one number: its first bit, and its maximum. */
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
  const plain = text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
  return ` ${plain.trim()} `;
}

/** Longer headings are no names. */
const maxNameLength = 60;

/** A passage, prepared for comparing it with many questions. */
export type Profile = ReturnType<typeof toProfile>;

function toProfile(passage: FoundPassage) {
  const uses = new Map<string, number>();
  const { terms, lead, path, heading } = passage;
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
    /** The count of each term in each field, as `useIn` reads it. */
    uses,
    /** The number of words of its text and code. */
    words: terms.body.length + terms.code.length,
    /** The heading in one piece, as a name is written. */
    headingName: headingName.length < maxNameLength ? headingName : '',
    plainHeading: toPlainWords(heading),
    isHistory:
      historyPath.test(path.replaceAll(/(^|\/)\d+[-_.]/g, '$1')) ||
      historyHeading.test(heading.trim()),
  };
}

/** Pages about what was, or lists of what is elsewhere: they name much and answer little. */
const historyPath =
  /(?:^|\/)(?:change-?log|changes|history|release-?notes?|releases?|news|upgrad\w+|migrat\w+|blog|decisions|adr|rfcs?|archive|glossary|index|contributing|licen[cs]e|code[-_]of[-_]conduct|tests?|__tests__|fixtures)(?:[-/.]|$)/i;
const historyHeading =
  /^(?:see also|related|further reading|next steps|table of contents|contents|version history|changelog|learn more|references?|index)$/i;
