import { trimEndOf } from '../../core/trim-end.ts';
import { parseHandle } from '../../model/reference.ts';
import { toNameWord, toWords } from './words.ts';

/** Words to look for that follow each other in a column of `post_words`. */
export interface Term {
  readonly column: 'text' | 'author' | 'tags' | 'marks';
  readonly words: readonly string[];
}

/** The content of a search text, all of which is asked for together. */
export interface SearchText {
  readonly include: readonly Term[];
  readonly exclude: readonly Term[];
  /** Unix seconds: from then on. */
  readonly sinceSeconds: number | null;
  /** Unix seconds: before then. */
  readonly untilSeconds: number | null;
  /** Sentences about the parts that were left out. */
  readonly warnings: readonly string[];
}

/**
 * Parses the text of a search of posts: words, `"phrases"`, `-` before what must not be there, `from:`, `since:`,
 * `until:`, `filter:` and `#tags`. An operator that other searches know, and a value that cannot be read, is left out
 * and named in `warnings`.
 */
export function parseSearchText(text: string): SearchText {
  const pieces = toPieces(text, ofPosts);
  const seconds = (kind: Piece['kind']) =>
    pieces.flatMap((piece) => ('seconds' in piece && piece.kind === kind ? [piece.seconds] : []));
  const since = seconds('since');
  const until = seconds('until');
  return {
    include: termsOf(pieces, 'include').map(({ term }) => term),
    exclude: termsOf(pieces, 'exclude').map(({ term }) => term),
    sinceSeconds: since.length > 0 ? Math.max(...since) : null,
    untilSeconds: until.length > 0 ? Math.min(...until) : null,
    warnings: warningsOf(pieces),
  };
}

export interface UserSearchText extends Pick<SearchText, 'include' | 'exclude' | 'warnings'> {
  /** The last of `include` that is no phrase: it may be a word that is being typed. */
  readonly unfinished: Term | null;
}

/** Parses the text of a search of accounts: words and phrases alone. */
export function parseUserSearchText(text: string): UserSearchText {
  const pieces = toPieces(text, ofAccounts);
  const include = termsOf(pieces, 'include');
  return {
    include: include.map(({ term }) => term),
    exclude: termsOf(pieces, 'exclude').map(({ term }) => term),
    unfinished: include.findLast(({ isPlain }) => isPlain)?.term ?? null,
    warnings: warningsOf(pieces),
  };
}

/** `isPlain`: neither quoted nor an operator. */
type TermPiece = {
  readonly kind: 'include' | 'exclude';
  readonly term: Term;
  readonly isPlain: boolean;
};

type Piece =
  | TermPiece
  | { readonly kind: 'since' | 'until'; readonly seconds: number }
  | { readonly kind: 'warning'; readonly text: string };

function termsOf(pieces: readonly Piece[], kind: TermPiece['kind']): readonly TermPiece[] {
  return pieces.flatMap((piece) => ('term' in piece && piece.kind === kind ? [piece] : []));
}

function warningsOf(pieces: readonly Piece[]): readonly string[] {
  return [...new Set(pieces.flatMap((piece) => (piece.kind === 'warning' ? [piece.text] : [])))];
}

/** An operator or a tag, without the signs before it. */
interface Special {
  readonly body: string;
  readonly kind: 'include' | 'exclude';
  /** As it was written. */
  readonly shown: string;
}

interface Dialect {
  /** Added to the warning about an unknown operator. */
  readonly where: string;
  /** Reads an operator or a tag; returns `undefined` if it is none: `12:30` and `https://…` are words. */
  readSpecial(special: Special): Piece | undefined;
}

/** How much of a search text is read: a phrase of many common words takes long to look for. */
const limits = { characters: 4096, terms: 32, words: 64 } as const;

const tooLong = `The search is long; the archive looked for its first ${limits.terms} terms and ${limits.words} words at most.`;

/** A quoted text with the signs before it, or the characters between two spaces. */
const lexeme = /[-(]*(?:\p{L}+:)?"[^"]*"?|\S+/gu;

/** Takes a search text apart. Never throws. */
function toPieces(text: string, dialect: Dialect): readonly Piece[] {
  const read = text.slice(0, limits.characters).replace(/[“”„‟]/g, '"');
  const lexemes = [...new Set(read.match(lexeme))];
  let wordsLeft: number = limits.words;
  let isCut = text.length > limits.characters || lexemes.length > limits.terms;
  const pieces = lexemes
    .slice(0, limits.terms)
    .flatMap((one) => readLexeme(one, dialect))
    .flatMap((piece): readonly Piece[] => {
      if (!('term' in piece)) return [piece];
      const words = piece.term.words.slice(0, wordsLeft);
      wordsLeft -= words.length;
      isCut ||= words.length < piece.term.words.length;
      return words.length === 0 ? [] : [{ ...piece, term: { ...piece.term, words } }];
    });
  return isCut ? [...pieces, { kind: 'warning', text: tooLong }] : pieces;
}

function readLexeme(one: string, dialect: Dialect): readonly Piece[] {
  if (one === 'AND') return []; // everything is asked for together anyway
  if (one === 'OR') return [unknownOperator(one, dialect.where)];
  const [signs = ''] = /^[-(]*/.exec(one) ?? [];
  const body = trimEndOf(one.slice(signs.length), ')');
  const kind = signs.includes('-') ? 'exclude' : 'include';
  const shown = `${kind === 'exclude' ? '-' : ''}${body}`;
  const special = dialect.readSpecial({ body, kind, shown });
  const pieces = special === undefined ? readWords(body, kind) : [special];
  return signs.includes('(') && pieces.length > 0 ? [parenthesis, ...pieces] : pieces;
}

const parenthesis: Piece = {
  kind: 'warning',
  text: 'The archive does not know parentheses; they were left out.',
};

/** Punctuation alone is nothing to look for. */
function readWords(body: string, kind: 'include' | 'exclude'): readonly Piece[] {
  const words = toWords(body);
  if (words.length === 0) return [];
  return [{ kind, term: { column: 'text', words }, isPlain: !body.includes('"') }];
}

const ofPosts: Dialect = {
  where: '',
  readSpecial: (special) => {
    const operator = findOperator(special.body);
    if (operator !== undefined) return (operator.read ?? refuse)(operator.value, special);
    const tag = findTag(special.body);
    return tag === undefined ? undefined : toTerm('tags', toNameWord(tag), special);
  },
};

const ofAccounts: Dialect = {
  where: ' in a search of accounts',
  readSpecial: ({ body, shown }) => {
    if (findOperator(body) === undefined && findTag(body) === undefined) return undefined;
    return unknownOperator(shown, ofAccounts.where);
  },
};

type ReadValue = (value: string, special: Special) => Piece;

/** Returns the value of an operator, and its reader unless only other searches know the operator. */
function findOperator(body: string) {
  const [, name = '', value = ''] = /^([\p{L}_]+):(.*)$/su.exec(body) ?? [];
  const read = readers.get(name.toLowerCase());
  if (read !== undefined) return { value: value.replaceAll('"', ''), read };
  return value !== '' && foreign.has(name.toLowerCase()) ? { value, read } : undefined;
}

/** Returns the name of a tag; a number is none. */
function findTag(body: string): string | undefined {
  const [, tag = ''] = /^[#＃]([\p{L}\p{N}\p{M}_]+)(?:[^\P{P}_]\p{P}*)?$/u.exec(body) ?? [];
  return /\P{N}/u.test(tag) ? tag : undefined;
}

const readers: ReadonlyMap<string, ReadValue> = new Map([
  ['from', readFrom],
  ['since', (value, special) => readTime('since', value, special)],
  ['until', (value, special) => readTime('until', value, special)],
  ['filter', readFilter],
]);

/** Operators that X, Bluesky and Mastodon know and the archive does not. */
const foreign: ReadonlySet<string> = new Set(
  `to lang language near within geocode place url domain list include exclude mentions has is in
   min_faves min_likes min_retweets min_reposts min_replies min_quotes max_faves max_retweets
   max_replies since_id max_id since_time until_time within_time before after during source
   quoted_tweet_id quoted_user_id conversation_id in_reply_to_tweet_id retweets_of
   retweets_of_tweet_id card_name card_url card_domain bio bio_name
   bio_location point_radius bounding_box place_country`.split(/\s+/),
);

function refuse(_value: string, { shown }: Special): Piece {
  return unknownOperator(shown, '');
}

function toTerm(column: Term['column'], word: string, { kind }: Special): Piece {
  return { kind, term: { column, words: [word] }, isPlain: false };
}

function readFrom(value: string, special: Special): Piece {
  const handle = parseHandle(value)?.handle;
  if (handle === undefined) return unreadable(special.shown);
  return toTerm('author', toNameWord(handle), special);
}

const marks: ReadonlyMap<string, string> = new Map([
  ['media', 'media'],
  ['images', 'photo'],
  ['videos', 'video'],
]);

function readFilter(value: string, special: Special): Piece {
  const mark = marks.get(value.toLowerCase());
  return mark === undefined ? refuse(value, special) : toTerm('marks', mark, special);
}

function readTime(kind: 'since' | 'until', value: string, special: Special): Piece {
  if (special.kind === 'exclude') return refuse(value, special);
  if (/^\d{9,11}$/.test(value)) return { kind, seconds: Number(value) };
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  // Some engines take February 31 for a day of March.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
  return isDay ? { kind, seconds: ms / 1000 } : unreadable(special.shown);
}

function unknownOperator(shown: string, where: string): Piece {
  const text = `The archive does not know the operator ${quote(shown)}${where}; it was left out.`;
  return { kind: 'warning', text };
}

function unreadable(shown: string): Piece {
  return { kind: 'warning', text: `The archive cannot read ${quote(shown)}; it was left out.` };
}

function quote(shown: string): string {
  const letters = [...shown.replace(/[`\p{C}]/gu, '\ufffd')];
  return `\`${letters.slice(0, 80).join('')}${letters.length > 80 ? '…' : ''}\``;
}
