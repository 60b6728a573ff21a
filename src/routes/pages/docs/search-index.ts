import type { DocumentSection } from './markdown.ts';

export interface SearchEntry extends DocumentSection {
  readonly page: string;
  readonly pageTitle: string;
}

export interface SearchHit {
  readonly entry: SearchEntry;
  /** Text around the first match, split into matches and the text between them. */
  readonly snippet: readonly { readonly text: string; readonly isMatch: boolean }[];
}

export type SearchIndex = Awaited<ReturnType<typeof createSearchIndex>>;

export const maxHits = 20;

const maxWords = 8;

const chunkSize = 20;

/** Creates the search index. Loads the package `minisearch` on demand. */
export async function createSearchIndex(entries: readonly SearchEntry[]) {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({
    fields: ['heading', 'title', 'text'],
    tokenize: splitTerms,
    searchOptions: {
      tokenize: splitQuery,
      boost: { heading: 6, title: 3 },
      // Ranks the sections of guides above the sections of the API reference.
      boostDocument: (id) => (entries[id]?.page.startsWith('api/') === true ? 0.3 : 1),
      prefix: (word) => !isLetter(word),
    },
  });
  const documents = entries.map(({ heading, pageTitle, text }, id) => {
    return { id, heading: heading.text, title: pageTitle, text };
  });
  await index.addAllAsync(documents, { chunkSize });
  const headings = entries.map(({ heading }) => joinWords(heading.text));
  return {
    /** Returns up to `maxHits` sections, those whose heading is the query first. */
    find: (query: string): readonly SearchHit[] => {
      const words = splitQuery(query);
      const wanted = joinWords(query);
      const isNamed = ({ id }: { readonly id: number }) => headings[id] === wanted;
      const found = index.search(query);
      return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))]
        .slice(0, maxHits)
        .flatMap(({ id }) => entries[id] ?? [])
        .map((entry) => ({ entry, snippet: cutSnippet(entry.text, words) }));
    },
  };
}

function splitWords(text: string): readonly string[] {
  const folded = text.normalize('NFKC').toLowerCase();
  return folded.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
}

const joinWords = (text: string) => splitWords(text).join(' ');

function splitTerms(text: string): string[] {
  return splitWords(text).flatMap((word) =>
    word.includes('_') ? [word, ...word.split('_')] : [word],
  );
}

function splitQuery(query: string): string[] {
  return [...new Set(splitWords(query))].slice(0, maxWords);
}

function isLetter(word: string): boolean {
  return [...word].length === 1;
}

const snippetLength = 200;
const snippetLead = 60;

function cutSnippet(text: string, words: readonly string[]): SearchHit['snippet'] {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const beginnings = words.map((word) =>
    isLetter(word) ? `${word}(?![\\p{L}\\p{M}\\p{N}])` : word,
  );
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(${beginnings.join('|')})`, 'giu');
  const first = Math.max(0, line.search(pattern));
  const start = first <= snippetLead ? 0 : line.indexOf(' ', first - snippetLead) + 1;
  const rest = line.slice(start);
  const end = rest.length <= snippetLength ? rest.length : rest.lastIndexOf(' ', snippetLength);
  const cut = rest.slice(0, end > 0 ? end : snippetLength);
  const shown = `${start > 0 ? '… ' : ''}${cut}${cut.length < rest.length ? ' …' : ''}`;
  // `split` with a group returns text and matches alternately.
  return shown
    .split(pattern)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter((part) => part.text !== '');
}
