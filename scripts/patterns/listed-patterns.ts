import { join } from 'node:path';

/** Regular expression that is allowed to take more than linear time, because its input is short. */
export interface PatternException {
  readonly file: string;
  /** Regular expression as a literal, such as `/a+$/g`. */
  readonly pattern: string;
  /** Maximum length of the pattern's input in UTF-16 code units. */
  readonly maxLength: number;
  /** Description of the code that limits the length of the pattern's input. */
  readonly bound: string;
  /** Maximum measured time for input of `maxLength` code units, in milliseconds. */
  readonly worstMs: number;
}

/** Maximum time in milliseconds for matching a pattern against an input of the length `maxLength`. */
export const maxMs = 5;

export const exceptions: readonly PatternException[] = [];

/** Source file that creates regular expressions from strings. */
export interface DynamicPatterns {
  readonly file: string;
  /** Description of the strings from which the file creates regular expressions. */
  readonly madeOf: string;
  /** Calls the functions of the file that create the regular expressions. Absent if importing the file creates them. */
  readonly create?: () => Promise<unknown>;
}

const source = (path: string) => import(join(import.meta.dirname, '../../src', path));

export const dynamicPatterns: readonly DynamicPatterns[] = [
  { file: 'lib/files/data-folder.ts', madeOf: 'constants of the same file' },
  { file: 'access/keys/key-record.ts', madeOf: 'the prefix and the length of a key' },
  {
    file: 'routes/admission/refusals.ts',
    madeOf: 'the paths of the route table',
    create: async () => {
      const { createUnroutedHeaders } = await source('routes/admission/refusals.ts');
      createUnroutedHeaders({}, 'http://localhost');
    },
  },
  { file: 'routes/pages/docs/markdown.ts', madeOf: 'the patterns of a language in the same file' },
  {
    file: 'routes/pages/docs/search-index.ts',
    madeOf: 'at most 8 words of a query, which consist of letters and digits, as alternatives',
    create: async () => {
      const { createSearchIndex } = await source('routes/pages/docs/search-index.ts');
      const entry = { page: 'a', pageTitle: 'a', heading: { text: 'a', id: 'a' }, text: 'word 漢' };
      (await createSearchIndex([entry])).find('word wo 漢');
    },
  },
  {
    file: 'answers/llm/prompt.ts',
    madeOf: 'constants of the same file, and the places of passages with every sign escaped',
    create: async () => {
      const { createSegmentSplitter } = await source('answers/llm/prompt.ts');
      createSegmentSplitter(['docs/start.md#run-it:12', 'docs/a.md:3']);
    },
  },
  {
    file: 'answers/text/words.ts',
    madeOf: 'the phrases in resources/words/phrases.txt',
    create: async () => (await source('answers/text/words.ts')).readVocabulary(),
  },
  { file: 'normalize/tags.ts', madeOf: 'constants of the same file' },
  { file: 'archive/search/words.ts', madeOf: 'constants of the same file' },
  { file: 'providers/fxtwitter/lists/timeline.ts', madeOf: 'constants of the same file' },
  { file: 'render/markdown/links.ts', madeOf: 'constants of the same file' },
  { file: 'normalize/language.ts', madeOf: 'constants of the same file' },
];
