import { readFileSync } from 'node:fs';
import { packagePath } from '../../core/files/package-path.ts';
import { toStem } from './words.ts';

/** Word lists about the language of questions. */
export type Vocabulary = ReturnType<typeof readVocabulary>;

/** A phrase of a question, with the words that documentation uses for it. */
export type Phrase = Readonly<{ text: string; meanings: readonly string[] }>;

/** Reads the lists in `resources/words/`: words that mean the same whatever a project does. */
export function readVocabulary() {
  return {
    /** Returns the other stems that mean the same as a stem in software. */
    synonyms: createLeads(readLines('synonyms')),
    /** Returns the stems that documentation may use if people say a stem. They do not lead back. */
    everyday: createLeads(readLines('everyday-words')),
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

/** In each line, the words before the bar lead to those behind it, or all words to each other. */
function createLeads(lines: readonly string[]) {
  const leads = new Map<string, string[]>();
  for (const line of lines) {
    const sides = line.split('|').map((side) =>
      side
        .trim()
        .split(/[\s-]+/)
        .map(toStem),
    );
    const [said = [], written = said] = sides;
    for (const stem of said) leads.set(stem, [...(leads.get(stem) ?? []), ...written]);
  }
  return (stem: string) => [...new Set(leads.get(stem))].filter((other) => other !== stem);
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
