import { type Platform, platform } from '../../model/reference.ts';
import { anyMark, platformMark } from './post-words.ts';
import type { Term } from './search-pieces.ts';
import type { SearchText, UserSearchText } from './search-query.ts';

/**
 * Writes what is asked for as an FTS5 expression over `post_words`. All words come from `toWords`
 * and `toNameWord` or are marks, so none has a quote in it.
 *
 * @param marks Single words that the post must have beside what the text asks for.
 * @param platforms Whose posts are wanted; null where all are.
 */
export function toMatchExpression(
  { include, exclude }: SearchText,
  marks: readonly string[],
  platforms: readonly Platform[] | null,
): string {
  const wanted = [...include, ...marks.map(toMark)].map(print);
  if (platforms !== null) wanted.push(`(${printPlatforms(platforms)})`);
  const all = wanted.length > 0 ? wanted.join(' AND ') : print(toMark(anyMark));
  const none = exclude.map(print).join(' OR ');
  return none === '' ? all : `(${all}) NOT (${none})`;
}

/**
 * Writes what is asked for as an FTS5 expression over `account_words`.
 *
 * @param platforms Whose accounts are wanted; null where all are.
 */
export function toUserMatchExpression(
  { include, exclude, unfinished }: UserSearchText,
  platforms: readonly Platform[] | null,
): string {
  const printWords = ({ words }: Term) => `words : "${words.join(' ')}"`;
  const wanted = include.map((term) => `${printWords(term)}${term === unfinished ? ' *' : ''}`);
  if (platforms !== null || wanted.length === 0) {
    wanted.push(`(${printPlatforms(platforms ?? platform.options)})`);
  }
  const none = exclude.map(printWords).join(' OR ');
  return none === '' ? wanted.join(' AND ') : `(${wanted.join(' AND ')}) NOT (${none})`;
}

function printPlatforms(platforms: readonly Platform[]): string {
  return platforms.map((one) => print(toMark(platformMark(one)))).join(' OR ');
}

function toMark(mark: string): Term {
  return { column: 'marks', words: [mark] };
}

function print({ column, words }: Term): string {
  return `${column} : "${words.join(' ')}"`;
}
