import { LRUCache } from 'lru-cache';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import { toWords } from '../text/words.ts';
import { isAside, isSourceCode } from './definitions.ts';

/** Maximum total bytes of the three caches of posting lists (passage ids by term). */
const maxPostingBytes = 9_000_000;
const maxProfiles = 1500;

export type PassageStore = ReturnType<typeof createPassageStore>;

/** Creates a cache for an index, to be replaced after a change of the index. */
export function createPassageStore(index: PassageIndex) {
  const postingsOf = (where: Parameters<PassageIndex['postings']>[1]) => {
    const cached = new LRUCache<string, Uint32Array>({
      maxSize: maxPostingBytes / 3,
      sizeCalculation: (ids) => Math.max(1, ids.byteLength),
      memoMethod: (term) => Uint32Array.from(index.postings(term, where)),
    });
    return (term: string) => cached.memo(term);
  };
  const profiles = new LRUCache<number, Profile>({ max: maxProfiles });
  return {
    /** Upper bound of the passage ids. All ids are less than this number. */
    span: index.span(),
    anywhere: postingsOf('anywhere'),
    /** Returns the ids of passages with a term in a title, a heading or an identifier. */
    above: postingsOf('above'),
    /** Returns the ids of the passages that define a name, in the form that `foldName` returns. */
    defines: postingsOf('defines'),
    profile: (id: number): Profile | undefined => {
      const cached = profiles.get(id);
      if (cached !== undefined) return cached;
      const passage = index.passage(id);
      if (passage === undefined) return undefined;
      const profile = toProfile(passage);
      profiles.set(id, profile);
      return profile;
    },
  };
}

const bitFields = {
  body: { shift: 0, max: 1023 },
  code: { shift: 10, max: 1023 },
  title: { shift: 20, max: 1 },
  trail: { shift: 21, max: 1 },
  heading: { shift: 22, max: 1 },
  lead: { shift: 23, max: 1 },
  names: { shift: 24, max: 3 },
} as const;

type CountedField = keyof typeof bitFields;

/** Returns the occurrences in a field from packed counts, up to the maximum that can be stored. */
export function countIn(use: number, field: CountedField): number {
  const { shift, max } = bitFields[field];
  return (use >>> shift) & max;
}

/** Packed counts of a term that occurs in the lead of the file, but not in the passage. */
export const leadOnly: number = 1 << bitFields.lead.shift;

/** Returns lower-case words separated by spaces, with a space at the start and the end. */
export function toPlainWords(text: string): string {
  const plain = text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
  return ` ${plain.trim()} `;
}

const maxNameLength = 60;

/** Matches names such as “YouTube”, which questions usually spell in lower case. */
const brandName = /(?<![\p{L}\p{N}._-])\p{Lu}\p{Ll}+\p{Lu}\p{L}+(?![\p{L}\p{N}_(.-])/gu;

export type Profile = ReturnType<typeof toProfile>;

function toProfile(passage: FoundPassage) {
  const counts = new Map<string, number>();
  const { terms, lead, heading } = passage;
  const { defines: _, ...counted } = terms;
  const names = toWords(heading.match(brandName)?.join(' ') ?? '').names;
  const fields: Record<CountedField, readonly string[]> = { ...counted, lead };
  const withNames = { ...fields, heading: [...terms.heading, ...names] };
  for (const [field, found] of Object.entries(withNames) as [CountedField, readonly string[]][]) {
    const { shift, max } = bitFields[field];
    for (const term of found) {
      const use = counts.get(term) ?? 0;
      if (countIn(use, field) < max) counts.set(term, use + (1 << shift));
    }
  }
  const headingName = terms.heading.join('');
  return {
    passage,
    /** Packed counts by term: its occurrences in each field (see `countIn`). */
    counts,
    words: terms.body.length + terms.code.length,
    /** Heading terms joined into one word, to compare with identifiers; empty if too long. */
    headingName: headingName.length < maxNameLength ? headingName : '',
    plainHeading: toPlainWords(heading),
    isHistory: isHistory(passage),
    isForDevelopers: developersPath.test(withoutNumbers(passage.path)),
  };
}

function isHistory({ path, heading }: FoundPassage): boolean {
  if (isSourceCode(path)) return isAside(path);
  return historyPath.test(withoutNumbers(path)) || historyHeading.test(heading.trim());
}

function withoutNumbers(path: string): string {
  return path.replaceAll(/(^|\/)\d+[-_.]/g, '$1');
}

const developersPath =
  /(?:^|\/)(?:contributing|hacking|internals|decisions|adr)(?:[-/.]|$)|(?:^|\/)(?:architecture|development)\.\w+$/i;

/** Matches change logs, archives and tests, which mention many terms but answer little. */
const historyPath =
  /^history\b|(?:^|\/)(?:change-?log|changes|release-?notes?|releases?|news|upgrad\w+|migrat\w+|blog|decisions|adr|rfcs?|archive(?=\/)|glossary|index|licen[cs]e|code[-_]of[-_]conduct|tests?|__tests__|fixtures)(?:[-/.]|$)/i;
const historyHeading =
  /^(?:see also|related|further reading|next steps|table of contents|contents|version history|changelog|learn more|references?|index)$/i;
