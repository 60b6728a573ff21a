import { trimEndOf } from '../../lib/text.ts';
import { parseHandle } from '../../model/reference.ts';
import { toNameWord, toWords } from './words.ts';

/** Words that must be adjacent, in this order, in one column of the index `post_words`. */
export interface Term {
  readonly column: 'text' | 'author' | 'tags' | 'marks';
  readonly words: readonly string[];
}

/** Parsed search text. A post must satisfy all conditions. */
export interface SearchText {
  readonly include: readonly Term[];
  readonly exclude: readonly Term[];
  /** Earliest Unix second of matching posts (inclusive); `null` for no limit. */
  readonly sinceSeconds: number | null;
  /** Unix second before which matching posts were created; `null` for no limit. */
  readonly untilSeconds: number | null;
  readonly warnings: readonly string[];
}

/**
 * Parses words, `"phrases"`, `-` to exclude, `from:`, `since:`, `until:`, `filter:` and `#tags`.
 * Ignores unsupported operators and invalid values, and names each of them in `warnings`.
 */
export function parseSearchText(text: string): SearchText {
  const parts = parseParts(text, ofPosts);
  const seconds = (kind: QueryPart['kind']) =>
    parts.flatMap((part) => ('seconds' in part && part.kind === kind ? [part.seconds] : []));
  const since = seconds('since');
  const until = seconds('until');
  return {
    include: termsOf(parts, 'include').map(({ term }) => term),
    exclude: termsOf(parts, 'exclude').map(({ term }) => term),
    sinceSeconds: since.length > 0 ? Math.max(...since) : null,
    untilSeconds: until.length > 0 ? Math.min(...until) : null,
    warnings: warningsOf(parts),
  };
}

export interface UserSearchText extends Pick<SearchText, 'include' | 'exclude' | 'warnings'> {
  /** Last unquoted term of `include`, matched as a prefix because the user may be typing it. */
  readonly unfinished: Term | null;
}

/** Parses an account search: words and phrases, but no operators or tags. */
export function parseUserSearchText(text: string): UserSearchText {
  const parts = parseParts(text, ofAccounts);
  const include = termsOf(parts, 'include');
  return {
    include: include.map(({ term }) => term),
    exclude: termsOf(parts, 'exclude').map(({ term }) => term),
    unfinished: include.findLast(({ isPlain }) => isPlain)?.term ?? null,
    warnings: warningsOf(parts),
  };
}

type TermPart = {
  readonly kind: 'include' | 'exclude';
  readonly term: Term;
  readonly isPlain: boolean;
};

type QueryPart =
  | TermPart
  | { readonly kind: 'since' | 'until'; readonly seconds: number }
  | { readonly kind: 'warning'; readonly text: string };

const termsOf = (parts: readonly QueryPart[], kind: TermPart['kind']): readonly TermPart[] =>
  parts.flatMap((part) => ('term' in part && part.kind === kind ? [part] : []));

function warningsOf(parts: readonly QueryPart[]): readonly string[] {
  return [...new Set(parts.flatMap((part) => (part.kind === 'warning' ? [part.text] : [])))];
}

interface Special {
  readonly body: string;
  readonly kind: 'include' | 'exclude';
  /** Operator or hashtag in warnings: `body`, with a leading `-` if `kind` is `exclude`. */
  readonly shown: string;
}

interface Dialect {
  /** End of the warning about an unsupported operator, such as ` in account searches`. */
  readonly where: string;
  /** Returns `undefined` for plain words such as `12:30` and `https://…`. */
  readSpecial(special: Special): QueryPart | undefined;
}

/** Limits on a search text, because long phrases of common words are slow to find. */
const limits = {
  /** Maximum length of a search text. The rest is ignored. */
  characters: 4096,
  /** Maximum number of terms. Further terms are ignored. */
  terms: 32,
  /** Maximum number of words in all terms together. Further words are ignored. */
  words: 64,
} as const;

const tooLong = `The search is too long. Only its first ${limits.terms} terms and ${limits.words} words were used.`;

const lexemePattern = /[-(]*(?:\p{L}+:)?"[^"]*"?|\S+/gu;

function parseParts(text: string, dialect: Dialect): readonly QueryPart[] {
  const read = text.slice(0, limits.characters).replace(/[“”„‟]/g, '"');
  const lexemes = [...new Set(read.match(lexemePattern))];
  let wordsLeft: number = limits.words;
  let isCut = text.length > limits.characters || lexemes.length > limits.terms;
  const parts = lexemes
    .slice(0, limits.terms)
    .flatMap((lexeme) => readLexeme(lexeme, dialect))
    .flatMap((part): readonly QueryPart[] => {
      if (!('term' in part)) return [part];
      const words = part.term.words.slice(0, wordsLeft);
      wordsLeft -= words.length;
      isCut ||= words.length < part.term.words.length;
      return words.length === 0 ? [] : [{ ...part, term: { ...part.term, words } }];
    });
  return isCut ? [...parts, { kind: 'warning', text: tooLong }] : parts;
}

function readLexeme(lexeme: string, dialect: Dialect): readonly QueryPart[] {
  if (lexeme === 'AND') return []; // all terms must match anyway
  if (lexeme === 'OR') return [unknownOperator(lexeme, dialect.where)];
  const [signs = ''] = /^[-(]*/.exec(lexeme) ?? [];
  const body = trimEndOf(lexeme.slice(signs.length), ')');
  const kind = signs.includes('-') ? 'exclude' : 'include';
  const shown = `${kind === 'exclude' ? '-' : ''}${body}`;
  const special = dialect.readSpecial({ body, kind, shown });
  const parts = special === undefined ? readWords(body, kind) : [special];
  return signs.includes('(') && parts.length > 0 ? [parenthesis, ...parts] : parts;
}

const parenthesis: QueryPart = {
  kind: 'warning',
  text: 'The archive does not support parentheses, so they were ignored.',
};

function readWords(body: string, kind: 'include' | 'exclude'): readonly QueryPart[] {
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
  where: ' in account searches',
  readSpecial: ({ body, shown }) => {
    if (findOperator(body) === undefined && findTag(body) === undefined) return undefined;
    return unknownOperator(shown, ofAccounts.where);
  },
};

type ReadValue = (value: string, special: Special) => QueryPart;

function findOperator(body: string) {
  const [, name = '', value = ''] = /^([\p{L}_]+):(.*)$/su.exec(body) ?? [];
  const read = readers.get(name.toLowerCase());
  if (read !== undefined) return { value: value.replaceAll('"', ''), read };
  return value !== '' && foreignOperators.has(name.toLowerCase()) ? { value, read } : undefined;
}

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

const foreignOperators: ReadonlySet<string> = new Set(
  `to lang language near within geocode place url domain list include exclude mentions has is in
   min_faves min_likes min_retweets min_reposts min_replies min_quotes max_faves max_retweets
   max_replies since_id max_id since_time until_time within_time before after during source
   quoted_tweet_id quoted_user_id conversation_id in_reply_to_tweet_id retweets_of
   retweets_of_tweet_id card_name card_url card_domain bio bio_name
   bio_location point_radius bounding_box place_country`.split(/\s+/),
);

const refuse = (_value: string, { shown }: Special): QueryPart => unknownOperator(shown, '');

function toTerm(column: Term['column'], word: string, { kind }: Special): QueryPart {
  return { kind, term: { column, words: [word] }, isPlain: false };
}

function readFrom(value: string, special: Special): QueryPart {
  const handle = parseHandle(value)?.handle;
  if (handle === undefined) return unreadable(special.shown);
  return toTerm('author', toNameWord(handle), special);
}

const filterTokens: ReadonlyMap<string, string> = new Map([
  ['media', 'media'],
  ['images', 'photo'],
  ['videos', 'video'],
]);

function readFilter(value: string, special: Special): QueryPart {
  const token = filterTokens.get(value.toLowerCase());
  return token === undefined ? refuse(value, special) : toTerm('marks', token, special);
}

function readTime(kind: 'since' | 'until', value: string, special: Special): QueryPart {
  if (special.kind === 'exclude') return refuse(value, special);
  if (/^\d{9,11}$/.test(value)) return { kind, seconds: Number(value) };
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  // Some JavaScript engines parse February 31 as a day of March.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
  return isDay ? { kind, seconds: ms / 1000 } : unreadable(special.shown);
}

function unknownOperator(shown: string, where: string): QueryPart {
  const text = `The archive does not support the operator ${quote(shown)}${where}, so it was ignored.`;
  return { kind: 'warning', text };
}

function unreadable(shown: string): QueryPart {
  return { kind: 'warning', text: `The archive cannot read ${quote(shown)}, so it was ignored.` };
}

function quote(shown: string): string {
  const letters = [...shown.replace(/[`\p{C}]/gu, '\ufffd')];
  return `\`${letters.slice(0, 80).join('')}${letters.length > 80 ? '…' : ''}\``;
}
