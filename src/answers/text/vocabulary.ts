import { readFileSync } from 'node:fs';
import { packagePath } from '../../core/files/package-path.ts';
import { toStem } from './words.ts';

export type Vocabulary = ReturnType<typeof readVocabulary>;

/** Phrase of a question. `meanings` are the words that documentation uses instead. */
export type Phrase = Readonly<{ text: string; meanings: readonly string[] }>;

/** Reads the word lists in `resources/words/`: general English, not specific to a project. */
export function readVocabulary() {
  return {
    /** Returns, for the stem of a word, the stems of its synonyms in software documentation. */
    synonyms: createWordMap(readLines('synonyms')),
    /** Returns the stems of technical words that mean the same as an everyday word's stem. */
    everyday: createWordMap(readLines('everyday-words')),
    /** Finds the known phrases in a text. Returns these phrases, and the text without them. */
    takePhrases: createPhraseFinder(readLines('phrases')),
    /** Words that are ignored in a search, such as “the”. */
    stopWords: new Set(readLines('stop-words')),
    /** Words with reduced weight in a search, because most pages contain them. */
    weakWords: new Set(readLines('weak-words')),
    /** Words of greetings, thanks and the like, which do not describe the subject of a message. */
    courtesyWords: new Set(readLines('courtesy-words')),
    /** Returns whether a question asks for people, prices, news or opinions. */
    isOutside: createPhraseTest(readLines('outside-phrases')),
    /** Returns whether a developer of the project asks, such as how to contribute. */
    isOfDeveloper: createPhraseTest(readLines('developer-phrases')),
    /** Verbs that can begin an instruction, as in “list the branches”. */
    orderingWords: new Set(readLines('ordering-words')),
  };
}

function readLines(name: string): readonly string[] {
  const text = readFileSync(packagePath(`resources/words/${name}.txt`), 'utf8');
  return text.trim().split(/\r?\n/);
}

function createWordMap(lines: readonly string[]) {
  const related = new Map<string, string[]>();
  for (const line of lines) {
    const sides = line.split('|').map((side) =>
      side
        .trim()
        .split(/[\s-]+/)
        .map(toStem),
    );
    const [from = [], to = from] = sides;
    for (const stem of from) related.set(stem, [...(related.get(stem) ?? []), ...to]);
  }
  return (stem: string) => [...new Set(related.get(stem))].filter((other) => other !== stem);
}

function createPhraseTest(phrases: readonly string[]): (text: string) => boolean {
  const pattern = new RegExp(`\\b(?:${phrases.join('|').replaceAll(' ', '\\s+')})\\b`, 'i');
  return (text) => pattern.test(text);
}

/** Matches a verb with an object before its particle, as in “turn it off”. */
const separated =
  /\b(set|shut|switch|turn)\s+((?:\w+\s+){0,2}\w+)\s+(down|off|on|up)\b(?=\s*(?:[?.!,;]|$|again\b|and\b|for\b))/gi;

function createPhraseFinder(lines: readonly string[]) {
  const rows = lines.map((row) => row.split(' | '));
  const meanings = new Map(rows.map(([text = '', list = '']) => [text, list.split(' ')]));
  const longestFirst = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(?:${longestFirst.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi');
  return (text: string) => {
    const found: Phrase[] = [];
    const rest = text.replaceAll(separated, '$1 $3 $2').replaceAll(pattern, (match) => {
      const phrase = match.toLowerCase().replaceAll(/\s+/g, ' ');
      found.push({ text: phrase, meanings: meanings.get(phrase) ?? [] });
      return ' … ';
    });
    return { rest, found };
  };
}
