import { type Platform, platform } from '../../model/reference.ts';
import { anyMark, platformMark } from './post-words.ts';
import type { SearchText, Term, UserSearchText } from './search-query.ts';

/** The rows that a search may find: those of one platform, or everything that was imported. */
export type SearchScope = Platform | 'imports';

/**
 * Returns an FTS5 expression over `post_words` for a text and the `marks` that posts must have besides. Words come
 * from `toWords` and `toNameWord` or are marks, so none has a quote in it.
 */
export function toMatchExpression(
  { include, exclude }: SearchText,
  marks: readonly string[],
  scope: SearchScope,
): string {
  const { wanted, unwanted } = markScope(scope);
  const all = [...include.map(printTerm), ...marks.map(printMark), ...wanted];
  return join(all.length > 0 ? all : [printMark(anyMark)], [
    ...exclude.map(printTerm),
    ...unwanted,
  ]);
}

/** Returns an FTS5 expression over `account_words`. */
export function toUserMatchExpression(
  { include, exclude, unfinished }: UserSearchText,
  scope: SearchScope,
): string {
  const { wanted, unwanted } = markScope(scope);
  const print = ({ words }: Term) => `words : "${words.join(' ')}"`;
  const all = [
    ...include.map((term) => `${print(term)}${term === unfinished ? ' *' : ''}`),
    ...wanted,
  ];
  const everybody = platform.options.map((one) => printMark(platformMark(one))).join(' OR ');
  return join(all.length > 0 ? all : [`(${everybody})`], [...exclude.map(print), ...unwanted]);
}

function join(all: readonly string[], none: readonly string[]): string {
  const wanted = all.join(' AND ');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${none.join(' OR ')})`;
}

/** The sample is small, so leaving it out costs less than asking every post for its platform. */
function markScope(scope: SearchScope) {
  return scope === 'imports'
    ? { wanted: [], unwanted: [printMark(platformMark('sample'))] }
    : { wanted: [printMark(platformMark(scope))], unwanted: [] };
}

function printMark(mark: string): string {
  return `marks : "${mark}"`;
}

function printTerm({ column, words }: Term): string {
  return `${column} : "${words.join(' ')}"`;
}
