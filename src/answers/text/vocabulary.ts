import { readFileSync } from 'node:fs';
import { packagePath } from '../../core/files/package-path.ts';
import { toStem } from './words.ts';

/**
 * What is known of the words of questions, from the lists in `resources/words/`. They are general: a word
 * belongs there if it has the same meaning whatever a project does.
 */
export interface Vocabulary {
  /** Returns the stems that mean the same as a stem in software, without the stem itself. */
  synonyms(stem: string): readonly string[];
  /** Returns the stems that documentation may use where people say a stem. They do not lead back. */
  everyday(stem: string): readonly string[];
  /** Takes the phrases out of a text: words that have a meaning of their own together. */
  takePhrases(text: string): TakenPhrases;
  /** Words that say nothing about the subject of a question. */
  readonly stopWords: ReadonlySet<string>;
  /** Words that say little, because most pages have them. */
  readonly weakWords: ReadonlySet<string>;
  /** Words that begin an order, as in “list the branches”. */
  readonly orderingWords: ReadonlySet<string>;
}

/** The rest of a text, and the phrases that were taken out of it. */
export interface TakenPhrases {
  readonly rest: string;
  readonly found: readonly Phrase[];
}

/** A phrase of a text. */
export interface Phrase {
  readonly text: string;
  /** The words that documentation uses for it. */
  readonly meanings: readonly string[];
}

/** Reads the lists of words. */
export function readVocabulary(): Vocabulary {
  return {
    synonyms: createSynonyms(readLines('synonyms')),
    everyday: createEverydayWords(readLines('everyday-words')),
    takePhrases: createPhrases(readLines('phrases')),
    stopWords: new Set(readLines('stop-words')),
    weakWords: new Set(readLines('weak-words')),
    orderingWords: new Set(readLines('ordering-words')),
  };
}

function readLines(name: string): readonly string[] {
  const text = readFileSync(packagePath(`resources/words/${name}.txt`), 'utf8');
  return text.trim().split(/\r?\n/);
}

/** Each line is a group of words that mean the same. */
function createSynonyms(lines: readonly string[]): Vocabulary['synonyms'] {
  const table = new Map<string, string[]>();
  for (const line of lines) {
    const stems = line.split(/[\s-]+/).map(toStem);
    for (const stem of stems) table.set(stem, [...(table.get(stem) ?? []), ...stems]);
  }
  return (stem) => [...new Set(table.get(stem))].filter((other) => other !== stem);
}

/** In each line, the words before the bar lead to those behind it. */
function createEverydayWords(lines: readonly string[]): Vocabulary['everyday'] {
  const leads = new Map<string, Set<string>>();
  for (const line of lines) {
    const [said = '', written = ''] = line.split('|').map((side) => side.trim());
    for (const stem of said.split(' ').map(toStem)) {
      const known = leads.get(stem) ?? new Set();
      for (const word of written.split(' ')) known.add(toStem(word));
      leads.set(stem, known);
    }
  }
  return (stem) => [...(leads.get(stem) ?? [])].filter((other) => other !== stem);
}

/** Each line is a phrase, a bar and its meanings. Longer phrases are taken before shorter ones. */
function createPhrases(lines: readonly string[]): Vocabulary['takePhrases'] {
  const rows = lines.map((row) => row.split(' | '));
  const meanings = new Map(rows.map(([text = '', list = '']) => [text, list.split(' ')]));
  const longestFirst = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(?:${longestFirst.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
  return (text) => {
    const found: Phrase[] = [];
    const rest = text.replaceAll(pattern, (match) => {
      const phrase = match.toLowerCase().replaceAll(/\s+/g, ' ');
      found.push({ text: phrase, meanings: meanings.get(phrase) ?? [] });
      return ' … ';
    });
    return { rest, found };
  };
}
