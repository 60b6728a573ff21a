import { readFileSync } from 'node:fs';
import { stemmer } from 'stemmer';
import { packagePath } from '../../lib/files/package-path.ts';

const wordPattern = /[\p{L}\p{M}\p{N}_$]+(?:[-.:/'’][\p{L}\p{M}\p{N}_$]+)*/gu;
const wordBoundary = /[^\p{L}\p{M}\p{N}]+|(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const simpleWord = /^[A-Z]?[a-z0-9]{1,39}$/;
const maxWordLength = 40;

/** Splits a text into words and stems without accents. `names`: `body-limit` as `bodylimit`. */
export function toWords(text: string) {
  const words: { readonly plain: string; readonly stem: string }[] = [];
  const names: string[] = [];
  for (const [match] of text.matchAll(wordPattern)) {
    const isSimple = simpleWord.test(match);
    const parts = isSimple
      ? [match]
      : splitName(match).filter((part) => part.length <= maxWordLength);
    for (const plain of parts.map(foldWord)) words.push({ plain, stem: toStem(plain) });
    if (parts.length > 1) names.push(...namesOf(match));
  }
  return { words, names };
}

function splitName(name: string): readonly string[] {
  const whole = name.replaceAll(/['’](?:s|t|re|ve|ll|d|m)?(?![\p{L}])/giu, '');
  return whole.split(wordBoundary).filter((part) => part !== '');
}

function namesOf(name: string): readonly string[] {
  const steps = name.split(/[./:]/);
  const ends = steps.length > 1 ? steps.filter((step) => splitName(step).length > 1) : [];
  return [name, ...ends].map(foldName).filter((one) => one !== '' && one.length <= maxWordLength);
}

/** Returns a name in lower case, without accents, separators and other marks. */
export function foldName(name: string): string {
  return foldWord(name.replaceAll(/[^\p{L}\p{N}]+/gu, ''));
}

function foldWord(word: string): string {
  const lower = word.toLowerCase();
  return /^[\x20-\x7e]*$/.test(lower) ? lower : lower.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

/** Returns the stem of an English word. Words not only of a to z are returned unchanged. */
export function toStem(plain: string): string {
  if (plain.length <= 2 || !/^[a-z]+$/.test(plain) || unchanged.has(plain)) return plain;
  return stemmer(irregular.get(plain) ?? plain);
}

/** Words that end with “s” but are not plurals. `toStem` returns them unchanged. */
const unchanged: ReadonlySet<string> = new Set(['https', 'news']);

const irregular: ReadonlyMap<string, string> = new Map(
  `behavior behaviour, color colour, license licence, licensed licence,
  became become, began begin, begun begin, bound bind, broke break, broken break, brought bring, built build,
  caught catch, chose choose, chosen choose, cried cry, dealt deal, denied deny, drew draw, drawn draw, fed feed,
  felt feel, forbade forbid, forbidden forbid, forgot forget, forgotten forget, fought fight, found find, froze freeze,
  frozen freeze, gave give, grew grow, grown grow, heard hear, held hold, hid hide, hidden hide, hung hang, kept keep,
  knew know, known know, laid lay, led lead, left leave, lost lose, meant mean, met meet, overridden override,
  overrode override, paid pay, proven prove, ran run, rebuilt rebuild, retries retry, retried retry, risen rise,
  said say, sent send, shown show, shrunk shrink, sold sell, spent spend, split split, spoke speak, spoken speak,
  stolen steal, stood stand, stored store, taken take, threw throw, thrown throw, told tell, took take, tries try,
  tried try, understood understand, unsent unsend, went go, withdrawn withdraw, woken wake, wrote write, written write`
    .split(/,\s+/)
    .map((pair) => pair.split(' ') as [string, string]), // each pair has two words
);

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
