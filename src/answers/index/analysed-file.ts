import { toPassages } from '../passages.ts';
import type { ReadFile } from '../readers/section.ts';
import { leadTerms, packTerms, spellingsOf, toFieldTerms } from './passage-terms.ts';
import { fields } from './schema.ts';

/** What is known of a file besides its text. */
export interface FileFacts {
  readonly corpus: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

/** A file as it is kept: nothing is left to work out. */
export interface AnalysedFile {
  readonly facts: FileFacts;
  readonly title: string;
  /** The terms of its first words, with blanks between. */
  readonly lead: string;
  readonly passages: readonly AnalysedPassage[];
  /** The words in it that a misspelt word may have been meant as. */
  readonly spellings: ReadonlySet<string>;
}

/** A passage as it is kept. */
export interface AnalysedPassage {
  readonly heading: string;
  /** JSON of the headings above. */
  readonly trail: string;
  readonly line: number;
  readonly endLine: number;
  readonly words: number;
  /** The terms of all fields, packed. */
  readonly terms: string;
  /** JSON of the blocks. */
  readonly blocks: string;
  /** The terms of each field, with blanks between, in the order of the fields. */
  readonly columns: readonly string[];
}

/** Works out what is kept of a file; of one without text, that it is there. */
export function analyseFile(facts: FileFacts, read: ReadFile | undefined): AnalysedFile {
  if (read === undefined) {
    return { facts, title: '', lead: '', passages: [], spellings: new Set() };
  }
  const { title } = read;
  const passages = toPassages(read);
  return {
    facts,
    title,
    lead: leadTerms(read).join(' '),
    spellings: new Set(passages.flatMap(spellingsOf)),
    passages: passages.map((passage) => {
      const terms = toFieldTerms({ path: facts.path, title, passage });
      const { heading, trail, line, endLine, blocks } = passage;
      return {
        heading,
        trail: JSON.stringify(trail),
        line,
        endLine,
        words: terms.body.length + terms.code.length,
        terms: packTerms(terms),
        blocks: JSON.stringify(blocks),
        columns: fields.map((field) => terms[field].join(' ')),
      };
    }),
  };
}
