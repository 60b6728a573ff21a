import { readFileSync } from 'node:fs';
import { packagePath } from '../../core/files/package-path.ts';
import { toStem } from './words.ts';

/** Word lists about the language of questions. */
export type Vocabulary = ReturnType<typeof readVocabulary>;

/** A phrase of a question, with the words that documentation uses for it. */
export interface Phrase {
  readonly text: string;
  readonly meanings: readonly string[];
}

/** Reads the lists in `resources/words/`: words that mean the same whatever a project does. */
export function readVocabulary() {
  return {
    /** Returns the other stems that mean the same as a stem in software. */
    synonyms: createSynonyms(readLines('synonyms')),
    /** Returns the stems that documentation may use if people say a stem. They do not lead back. */
    everyday: createEverydayWords(readLines('everyday-words')),
    /** Takes phrases out of a text: words that mean something else together. */
    takePhrases: createPhrases(readLines('phrases')),
    /** Words that say nothing about the subject of a question. */
    stopWords: new Set(readLines('stop-words')),
    /** Words that say little, because most pages have them. */
    weakWords: new Set(readLines('weak-words')),
    /** Words that begin an order, as in “list the branches”. */
    orderingWords: new Set(readLines('ordering-words')),
  };
}

function readLines(name: string): readonly string[] {
  const text = readFileSync(packagePath(`resources/words/${name}.txt`), 'utf8');
  return text.trim().split(/\r?\n/);
}

/** Each line is a group of words that mean the same. */
function createSynonyms(lines: readonly string[]) {
  const table = new Map<string, string[]>();
  for (const line of lines) {
    const stems = line.split(/[\s-]+/).map(toStem);
    for (const stem of stems) table.set(stem, [...(table.get(stem) ?? []), ...stems]);
  }
  return (stem: string) => [...new Set(table.get(stem))].filter((other) => other !== stem);
}

/** In each line, the words before the bar lead to those behind it. */
function createEverydayWords(lines: readonly string[]) {
  const leads = new Map<string, Set<string>>();
  for (const line of lines) {
    const [said = '', written = ''] = line.split('|').map((side) => side.trim());
    for (const stem of said.split(' ').map(toStem)) {
      const more = written.split(' ').map(toStem);
      leads.set(stem, new Set([...(leads.get(stem) ?? []), ...more]));
    }
  }
  return (stem: string) => [...(leads.get(stem) ?? [])].filter((other) => other !== stem);
}

/** Each line is a phrase, a bar and its meanings. Longer phrases are taken before shorter ones. */
function createPhrases(lines: readonly string[]) {
  const rows = lines.map((row) => row.split(' | '));
  const meanings = new Map(rows.map(([text = '', list = '']) => [text, list.split(' ')]));
  const longestFirst = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(?:${longestFirst.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
  return (text: string) => {
    const found: Phrase[] = [];
    const rest = text.replaceAll(pattern, (match) => {
      const phrase = match.toLowerCase().replaceAll(/\s+/g, ' ');
      found.push({ text: phrase, meanings: meanings.get(phrase) ?? [] });
      return ' … ';
    });
    return { rest, found };
  };
}
