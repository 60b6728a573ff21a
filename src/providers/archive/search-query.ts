import { parseHandle } from '../../model/reference.ts';
import { toNameWord, toWords } from './words.ts';

/** Something to look for: words that stand one after the other in a column of `post_words`. */
export interface Term {
  readonly column: 'text' | 'author' | 'tags' | 'marks';
  readonly words: readonly string[];
}

/** What a search text asks for. */
export interface SearchText {
  /** All of these. */
  readonly include: readonly Term[];
  /** None of these. */
  readonly exclude: readonly Term[];
  /** Unix seconds: from then on. */
  readonly sinceSeconds: number | null;
  /** Unix seconds: before then. */
  readonly untilSeconds: number | null;
  /** Sentences on what was left out. */
  readonly warnings: readonly string[];
}

/** How much of a search text is read: a phrase of many common words takes long to look for. */
const limits = { characters: 4096, terms: 32, words: 64 } as const;

type Piece =
  | { readonly kind: 'include' | 'exclude'; readonly term: Term }
  | { readonly kind: 'since' | 'until'; readonly seconds: number }
  | { readonly kind: 'warning'; readonly text: string };

/**
 * Reads a search text: words, `"phrases"`, `-` before what must not be there, `from:`, `since:`,
 * `until:`, `filter:` and `#tags`. Everything is asked for together. An operator that other searches
 * know, and a value that cannot be read, is left out and named in `warnings`.
 */
export function parseSearchText(text: string): SearchText {
  const lexemes = [
    ...text
      .slice(0, limits.characters)
      .replace(/[“”„‟]/g, '"')
      .matchAll(lexeme),
  ];
  const written = [...new Set(lexemes.map(([one]) => one))];
  const pieces = keepWithinWords(written.slice(0, limits.terms).flatMap(read));
  const isCut = text.length > limits.characters || written.length > limits.terms;
  const seconds = (kind: Piece['kind']) =>
    pieces.kept.flatMap((piece) =>
      'seconds' in piece && piece.kind === kind ? [piece.seconds] : [],
    );
  const terms = (kind: Piece['kind']) =>
    pieces.kept.flatMap((piece) => ('term' in piece && piece.kind === kind ? [piece.term] : []));
  const since = seconds('since');
  const until = seconds('until');
  const warnings = pieces.kept.flatMap((piece) => ('text' in piece ? [piece.text] : []));
  return {
    include: terms('include'),
    exclude: terms('exclude'),
    sinceSeconds: since.length > 0 ? Math.max(...since) : null,
    untilSeconds: until.length > 0 ? Math.min(...until) : null,
    warnings: [...new Set([...warnings, ...(isCut || pieces.isCut ? [tooLong] : [])])],
  };
}

const tooLong = `The search is long; the archive looked for its first ${limits.terms} terms and ${limits.words} words at most.`;

/** A quoted text with what stands before it, or what stands between two spaces. */
const lexeme = /[-(]*(?:\p{L}+:)?"[^"]*"?|\S+/gu;

function keepWithinWords(pieces: readonly Piece[]) {
  let left: number = limits.words;
  const kept = pieces.flatMap((piece): readonly Piece[] => {
    if (!('term' in piece)) return [piece];
    const words = piece.term.words.slice(0, left);
    left -= words.length;
    return words.length === 0 ? [] : [{ ...piece, term: { ...piece.term, words } }];
  });
  const count = (of: readonly Piece[]) =>
    of.flatMap((piece) => ('term' in piece ? piece.term.words : [])).length;
  return { kept, isCut: count(kept) < count(pieces) };
}

function read(one: string): readonly Piece[] {
  if (one === 'AND') return []; // everything is asked for together anyway
  if (one === 'OR') return [unknownOperator(one)];
  const [signs = ''] = /^[-(]*/.exec(one) ?? [];
  const body = one.slice(signs.length).replace(/\)+$/, '');
  const kind = signs.includes('-') ? 'exclude' : 'include';
  const pieces = readOperator(body, kind) ?? readTag(body, kind) ?? readWords(body, kind);
  return signs.includes('(') && pieces.length > 0 ? [parenthesis, ...pieces] : pieces;
}

const parenthesis: Piece = {
  kind: 'warning',
  text: 'The archive does not know parentheses; they were left out.',
};

/** Undefined where it is no operator: `12:30` and `https://…` are words. */
function readOperator(body: string, kind: 'include' | 'exclude'): readonly Piece[] | undefined {
  const [, name = '', value = ''] = /^([\p{L}_]+):(.*)$/su.exec(body) ?? [];
  const reader = readers.get(name.toLowerCase());
  const shown = `${kind === 'exclude' ? '-' : ''}${body}`;
  if (reader !== undefined) return [reader(value.replaceAll('"', ''), { kind, shown })];
  return value !== '' && foreign.has(name.toLowerCase()) ? [unknownOperator(shown)] : undefined;
}

interface Around {
  readonly kind: 'include' | 'exclude';
  /** The operator as it was written. */
  readonly shown: string;
}

const readers: ReadonlyMap<string, (value: string, around: Around) => Piece> = new Map([
  ['from', readFrom],
  ['since', (value, around) => readTime('since', value, around)],
  ['until', (value, around) => readTime('until', value, around)],
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

function readFrom(value: string, { kind, shown }: Around): Piece {
  const handle = parseHandle(value)?.handle;
  if (handle === undefined) return unreadable(shown);
  return { kind, term: { column: 'author', words: [toNameWord(handle)] } };
}

const marks: ReadonlyMap<string, string> = new Map([
  ['media', 'media'],
  ['images', 'photo'],
  ['videos', 'video'],
]);

function readFilter(value: string, { kind, shown }: Around): Piece {
  const mark = marks.get(value.toLowerCase());
  if (mark === undefined) return unknownOperator(shown);
  return { kind, term: { column: 'marks', words: [mark] } };
}

function readTime(kind: 'since' | 'until', value: string, around: Around): Piece {
  if (around.kind === 'exclude') return unknownOperator(around.shown);
  if (/^\d{9,11}$/.test(value)) return { kind, seconds: Number(value) };
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  // Some engines take February 31 for a day of March.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
  return isDay ? { kind, seconds: ms / 1000 } : unreadable(around.shown);
}

/** Undefined where it is no tag: a number is none. */
function readTag(body: string, kind: 'include' | 'exclude'): readonly Piece[] | undefined {
  const [, tag = ''] = /^[#＃]([\p{L}\p{N}\p{M}_]+)\p{P}*$/u.exec(body) ?? [];
  if (!/\P{N}/u.test(tag)) return undefined;
  return [{ kind, term: { column: 'tags', words: [toNameWord(tag)] } }];
}

/** Punctuation alone is nothing to look for. */
function readWords(body: string, kind: 'include' | 'exclude'): readonly Piece[] {
  const words = toWords(body);
  return words.length === 0 ? [] : [{ kind, term: { column: 'text', words } }];
}

function unknownOperator(shown: string): Piece {
  const text = `The archive does not know the operator ${quote(shown)}; it was left out.`;
  return { kind: 'warning', text };
}

function unreadable(shown: string): Piece {
  return { kind: 'warning', text: `The archive cannot read ${quote(shown)}; it was left out.` };
}

function quote(shown: string): string {
  const letters = [...shown.replace(/[`\p{C}]/gu, '\ufffd')];
  return `\`${letters.slice(0, 80).join('')}${letters.length > 80 ? '…' : ''}\``;
}
