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

/** Maximum number of entries that are indexed at once; other requests are served in between. */
const chunkSize = 20;

/** Creates the index of all entries. The package is loaded here, because most servers never search. */
export async function createSearchIndex(entries: readonly SearchEntry[]) {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({
    fields: ['heading', 'title', 'text'],
    tokenize: splitTerms,
    searchOptions: {
      tokenize: splitQuery,
      boost: { heading: 6, title: 3 },
      prefix: (word) => !isLetter(word),
    },
  });
  const documents = entries.map(({ heading, pageTitle, text }, id) => {
    return { id, heading: heading.text, title: pageTitle, text };
  });
  await index.addAllAsync(documents, { chunkSize });
  return {
    /** Returns the best hits first, at most `maxHits`. */
    find: (query: string): readonly SearchHit[] => {
      const words = splitQuery(query);
      return index
        .search(query)
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

/** Returns the words of a text, and the parts of words such as `invalid_key`. */
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

/** Returns the text around the first of the words, with every word that begins with one of them marked. */
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
  // Text between matches and matches in turn.
  return shown
    .split(pattern)
    .map((stretch, at) => ({ text: stretch, isMatch: at % 2 === 1 }))
    .filter((stretch) => stretch.text !== '');
}
