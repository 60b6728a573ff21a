import { LRUCache } from 'lru-cache';
import { stemmer } from 'stemmer';

/** A word as it stands in a text, with what it is looked up by. */
export interface Word {
  /** In lower case, without accents. */
  readonly plain: string;
  readonly stem: string;
}

/** The words of a text, and the names in it that are made of several words. */
export interface Words {
  readonly words: readonly Word[];
  /** Names in one piece: `bodyLimit`, `body-limit` and `BODY_LIMIT` are all `bodylimit`. */
  readonly names: readonly string[];
}

/** A run of letters and digits, with what joins the parts of a name. */
const piece = /[\p{L}\p{M}\p{N}_$]+(?:[-.:/'’][\p{L}\p{M}\p{N}_$]+)*/gu;

/** Where a name in one piece parts into words: `bodyLimit`, `HTTPServer`, `snake_case`. */
const parting = /[^\p{L}\p{M}\p{N}]+|(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Longer words and names are of no use to anybody: hashes, keys, data. */
const maxWordLength = 40;

/** Takes a text apart into words and names. */
export function toWords(text: string): Words {
  const words: Word[] = [];
  const names: string[] = [];
  for (const [match] of text.matchAll(piece)) {
    const parts = splitName(match).filter((part) => part.length <= maxWordLength);
    for (const part of parts) words.push(toWord(part));
    if (parts.length > 1) names.push(...namesOf(match));
  }
  return { words, names };
}

/** Takes texts apart as `toWords` does. */
export type ReadWords = (text: string) => Words;

/** Maximum number of pieces of text that a reader remembers. */
const maxRemembered = 20_000;

/** Creates a reader that remembers the pieces it took apart, because most occur again and again. */
export function createWordReader(): ReadWords {
  const known = new LRUCache<string, Words>({ max: maxRemembered, memoMethod: toWords });
  return (text) => {
    const parts = [...text.matchAll(piece)].map(([match]) => known.memo(match));
    return {
      words: parts.flatMap(({ words }) => words),
      names: parts.flatMap(({ names }) => names),
    };
  };
}

/** Gives the parts of a name that is written in one piece, as they are written. */
function splitName(name: string): readonly string[] {
  const whole = name.replaceAll(/['’](?:s|t|re|ve|ll|d|m)?(?![\p{L}])/giu, '');
  return whole.split(parting).filter((part) => part !== '');
}

/** `reply.sendFile` is known as `replysendfile` and as `sendfile`. */
function namesOf(name: string): readonly string[] {
  const joined = foldWord(name.replaceAll(/[^\p{L}\p{N}]+/gu, ''));
  const steps = name.split(/[./:]/);
  const ends = steps.length > 1 ? steps.filter((step) => splitName(step).length > 1) : [];
  return [joined, ...ends.map((step) => foldWord(step.replaceAll(/[^\p{L}\p{N}]+/gu, '')))].filter(
    (one) => one !== '' && one.length <= maxWordLength,
  );
}

function toWord(part: string): Word {
  const plain = foldWord(part);
  return { plain, stem: toStem(plain) };
}

/** Gives a word in lower case and without accents. */
function foldWord(word: string): string {
  const lower = word.toLowerCase();
  return /^[\x20-\x7e]*$/.test(lower) ? lower : lower.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

/** Gives what all forms of a word are looked up by; what is no English word stays as it is. */
export function toStem(plain: string): string {
  if (plain.length <= 2 || !/^[a-z]+$/.test(plain)) return plain;
  return stemmer(irregular.get(plain) ?? plain);
}

/** Forms that no rule of endings brings back to their verb. */
const irregular: ReadonlyMap<string, string> = new Map(
  `became become, began begin, begun begin, bound bind, broke break, broken break, brought bring, built build,
  caught catch, chose choose, chosen choose, cried cry, dealt deal, denied deny, drew draw, drawn draw, fed feed,
  felt feel, forbade forbid, forbidden forbid, forgot forget, forgotten forget, fought fight, found find, froze freeze,
  frozen freeze, gave give, grew grow, grown grow, heard hear, held hold, hid hide, hidden hide, hung hang, kept keep,
  knew know, known know, laid lay, led lead, left leave, lost lose, meant mean, met meet, overridden override,
  overrode override, paid pay, proven prove, ran run, rebuilt rebuild, retries retry, retried retry, risen rise,
  said say, sent send, shown show, shrunk shrink, sold sell, spent spend, split split, spoke speak, spoken speak,
  stolen steal, stood stand, stored store, taken take, threw throw, thrown throw, told tell, took take, tries try,
  tried try, understood understand, unsent unsend, went go, withdrawn withdraw, woken wake, wrote write, written write`
    .split(/,\s+/)
    .map((pair): [string, string] => {
      const [form = '', verb = ''] = pair.trim().split(' ');
      return [form, verb];
    }),
);
