import type { DocumentSection } from './markdown.ts';

/** A part of a page that can be found. */
export interface SearchEntry extends DocumentSection {
  /** The name of the page. */
  readonly page: string;
  readonly pageTitle: string;
}

/** A part of a page that was found. */
export interface SearchHit {
  readonly entry: SearchEntry;
  /** Words of the text around the first place that was found, in stretches. */
  readonly snippet: readonly Stretch[];
}

/** A stretch of text, which was looked for or stands around it. */
export interface Stretch {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Finds parts of pages. */
export interface SearchIndex {
  /** Gives the best first, at most `maxHits`. */
  find(query: string): readonly SearchHit[];
}

/** The most hits of a search. */
export const maxHits = 20;

/** The most words of a query that are looked for. */
const maxWords = 8;

/** The most words of the index that the beginning of a word stands for. */
const maxCompletions = 60;

/** What a word counts in the heading of a part, in the title of its page, and in its text. */
const weights = { heading: 6, title: 3, text: 1 } as const;

/** What a word counts that only begins like the one that was looked for. */
const completionWeight = 0.4;

/** By the number of the entry, what the word counts there. */
type Postings = Map<number, number>;

/** Creates the index of entries: their words, and where each of them stands. */
export function createSearchIndex(entries: readonly SearchEntry[]): SearchIndex {
  const postings = new Map<string, Postings>();
  for (const [at, { heading, pageTitle, text }] of entries.entries()) {
    addWords(postings, at, { text: heading.text, weight: weights.heading });
    addWords(postings, at, { text: pageTitle, weight: weights.title });
    addWords(postings, at, { text, weight: weights.text });
  }
  const vocabulary = [...postings.keys()].sort();
  const scoreWord = (word: string) => scoreCompletions(complete(vocabulary, word), word, postings);
  return {
    find: (query) => {
      const words = [...new Set(splitWords(query))].slice(0, maxWords);
      const scores = words.map((word) => weigh(scoreWord(word), entries.length));
      return rank(scores)
        .slice(0, maxHits)
        .flatMap((at) => entries[at] ?? [])
        .map((entry) => ({ entry, snippet: cutSnippet(entry.text, words) }));
    },
  };
}

/** Words as they are written in prose and in code: `invalid_key` is a word, and so are its parts. */
function splitWords(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []
  );
}

function addWords(
  postings: Map<string, Postings>,
  at: number,
  { text, weight }: { readonly text: string; readonly weight: number },
): void {
  for (const word of splitWords(text)) {
    const parts = word.includes('_') ? word.split('_').filter((part) => part !== '') : [];
    for (const term of [word, ...parts]) {
      const found = postings.get(term) ?? new Map<number, number>();
      found.set(at, (found.get(at) ?? 0) + weight);
      postings.set(term, found);
    }
  }
}

/** Gives the words that begin like one, by halving; the list is sorted. A letter alone stands for itself. */
function complete(vocabulary: readonly string[], word: string): readonly string[] {
  if (isLetter(word)) return [word];
  let [low, high] = [0, vocabulary.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((vocabulary[middle] ?? '') < word) low = middle + 1;
    else high = middle;
  }
  const near = vocabulary.slice(low, low + maxCompletions);
  return near.filter((candidate) => candidate.startsWith(word));
}

function isLetter(word: string): boolean {
  return [...word].length === 1;
}

/** A word that stands often in one place counts less each time. */
function scoreCompletions(
  completions: readonly string[],
  word: string,
  postings: ReadonlyMap<string, Postings>,
): Postings {
  const scores: Postings = new Map();
  for (const completion of completions) {
    const factor = completion === word ? 1 : completionWeight;
    for (const [at, weight] of postings.get(completion) ?? []) {
      scores.set(at, Math.max(scores.get(at) ?? 0, factor * (1 + Math.log2(1 + weight))));
    }
  }
  return scores;
}

/** A word that few entries have tells more. */
function weigh(scores: Postings, total: number): Postings {
  const rarity = Math.log2(1 + total / (1 + scores.size));
  return new Map([...scores].map(([at, score]) => [at, score * rarity]));
}

/** Entries with more of the words come first, then those with the higher score. */
function rank(words: readonly Postings[]): readonly number[] {
  const totals = new Map<number, { count: number; score: number }>();
  for (const scores of words) {
    for (const [at, score] of scores) {
      const total = totals.get(at) ?? { count: 0, score: 0 };
      totals.set(at, { count: total.count + 1, score: total.score + score });
    }
  }
  return [...totals]
    .sort(([a, x], [b, y]) => y.count - x.count || y.score - x.score || a - b)
    .map(([at]) => at);
}

/** How many characters a snippet has, and how many of them stand before the first match. */
const snippetLength = 200;
const snippetLead = 60;

/** Gives the text around the first of the words, with all that begins like one of them marked. */
function cutSnippet(text: string, words: readonly string[]): readonly Stretch[] {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const beginnings = words.map((word) =>
    isLetter(word) ? `${word}(?![\\p{L}\\p{M}\\p{N}])` : word,
  );
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(?:${beginnings.join('|')})`, 'giu');
  const first = Math.max(0, line.search(pattern));
  const start = first <= snippetLead ? 0 : line.indexOf(' ', first - snippetLead) + 1;
  const rest = line.slice(start);
  const end = rest.length <= snippetLength ? rest.length : rest.lastIndexOf(' ', snippetLength);
  const cut = rest.slice(0, end > 0 ? end : snippetLength);
  const shown = `${start > 0 ? '… ' : ''}${cut}${cut.length < rest.length ? ' …' : ''}`;
  return splitStretches(shown, pattern);
}

function splitStretches(text: string, pattern: RegExp): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    stretches.push({ text: text.slice(end, index), isMatch: false });
    stretches.push({ text: found, isMatch: true });
    end = index + found.length;
  }
  stretches.push({ text: text.slice(end), isMatch: false });
  return stretches.filter((stretch) => stretch.text !== '');
}
