import { parseHandle } from '../../model/reference.ts';
import {
  type Dialect,
  type Piece,
  type Special,
  type Term,
  toPieces,
  unknownOperator,
  unreadable,
} from './search-pieces.ts';
import { toNameWord } from './words.ts';

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

/**
 * Reads what a search of posts asks for: words, `"phrases"`, `-` before what must not be there,
 * `from:`, `since:`, `until:`, `filter:` and `#tags`. Everything is asked for together. An operator
 * that other searches know, and a value that cannot be read, is left out and named in `warnings`.
 */
export function parseSearchText(text: string): SearchText {
  const { pieces, warnings } = toPieces(text, ofPosts);
  const seconds = (kind: Piece['kind']) =>
    pieces.flatMap((piece) => ('seconds' in piece && piece.kind === kind ? [piece.seconds] : []));
  const terms = (kind: Piece['kind']) =>
    pieces.flatMap((piece) => ('term' in piece && piece.kind === kind ? [piece.term] : []));
  const since = seconds('since');
  const until = seconds('until');
  return {
    include: terms('include'),
    exclude: terms('exclude'),
    sinceSeconds: since.length > 0 ? Math.max(...since) : null,
    untilSeconds: until.length > 0 ? Math.min(...until) : null,
    warnings,
  };
}

/** What a search of accounts asks for. */
export interface UserSearchText {
  /** All of these words and phrases. */
  readonly include: readonly Term[];
  /** None of these. */
  readonly exclude: readonly Term[];
  /** The last of `include` that is no phrase: whoever types may not have finished it. */
  readonly unfinished: Term | null;
  /** Sentences on what was left out. */
  readonly warnings: readonly string[];
}

/** Reads what a search of accounts asks for: as in one of posts, but words and phrases alone. */
export function parseUserSearchText(text: string): UserSearchText {
  const { pieces, warnings } = toPieces(text, ofAccounts);
  const termed = pieces.flatMap((piece) => ('term' in piece ? [piece] : []));
  const include = termed.filter(({ kind }) => kind === 'include');
  return {
    include: include.map(({ term }) => term),
    exclude: termed.filter(({ kind }) => kind === 'exclude').map(({ term }) => term),
    unfinished: include.findLast(({ isPlain }) => isPlain)?.term ?? null,
    warnings,
  };
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

const inAccounts = ' in a search of accounts';

const ofAccounts: Dialect = {
  where: inAccounts,
  readSpecial: ({ body, shown }) => {
    if (findOperator(body) === undefined && findTag(body) === undefined) return undefined;
    return unknownOperator(shown, inAccounts);
  },
};

type ReadValue = (value: string, special: Special) => Piece;

interface Operator {
  readonly value: string;
  /** Undefined where only other searches know it. */
  readonly read: ReadValue | undefined;
}

function findOperator(body: string): Operator | undefined {
  const [, name = '', value = ''] = /^([\p{L}_]+):(.*)$/su.exec(body) ?? [];
  const read = readers.get(name.toLowerCase());
  if (read !== undefined) return { value: value.replaceAll('"', ''), read };
  return value !== '' && foreign.has(name.toLowerCase()) ? { value, read } : undefined;
}

/** Gives the name of a tag; a number is none. */
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
