import { type Platform, platform } from '../../model/reference.ts';
import { anyMark, platformMark } from './post-words.ts';
import type { Term } from './search-pieces.ts';
import type { SearchText, UserSearchText } from './search-query.ts';

/** Which rows a search may find: those of one platform, or everything that was imported. */
export type SearchScope = Platform | 'imports';

/**
 * Writes what is asked for as an FTS5 expression over `post_words`. All words come from `toWords`
 * and `toNameWord` or are marks, so none has a quote in it.
 *
 * @param marks Single words that the post must have beside what the text asks for.
 */
export function toMatchExpression(
  { include, exclude }: SearchText,
  marks: readonly string[],
  scope: SearchScope,
): string {
  const wanted = [...include, ...marks.map(toMark), ...wantedBy(scope)];
  const all = wanted.length > 0 ? wanted : [toMark(anyMark)];
  return join(all.map(print), [...exclude, ...unwantedBy(scope)].map(print));
}

/** Writes what is asked for as an FTS5 expression over `account_words`. */
export function toUserMatchExpression(
  { include, exclude, unfinished }: UserSearchText,
  scope: SearchScope,
): string {
  const printWords = ({ words }: Term) => `words : "${words.join(' ')}"`;
  const wanted = [
    ...include.map((term) => `${printWords(term)}${term === unfinished ? ' *' : ''}`),
    ...wantedBy(scope).map(print),
  ];
  const everybody = platform.options.map((one) => print(toMark(platformMark(one)))).join(' OR ');
  return join(wanted.length > 0 ? wanted : [`(${everybody})`], [
    ...exclude.map(printWords),
    ...unwantedBy(scope).map(print),
  ]);
}

function join(all: readonly string[], none: readonly string[]): string {
  const wanted = all.join(' AND ');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${none.join(' OR ')})`;
}

function wantedBy(scope: SearchScope): readonly Term[] {
  return scope === 'imports' ? [] : [toMark(platformMark(scope))];
}

/** The sample is small, so leaving it out costs less than asking every post for its platform. */
function unwantedBy(scope: SearchScope): readonly Term[] {
  return scope === 'imports' ? [toMark(platformMark('sample'))] : [];
}

function toMark(mark: string): Term {
  return { column: 'marks', words: [mark] };
}

function print({ column, words }: Term): string {
  return `${column} : "${words.join(' ')}"`;
}
