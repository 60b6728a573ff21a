import { type Platform, platform } from '../../model/reference.ts';
import { anyPostToken, platformToken } from './post-words.ts';
import type { SearchText, Term, UserSearchText } from './search-query.ts';

/** Posts and accounts of one platform, or all imported ones of every platform (`imports`). */
export type SearchScope = Platform | 'imports';

/** Returns an FTS5 expression for posts in `scope` that have all `tokens` in the column `marks`. */
export function toMatchExpression(
  { include, exclude }: Pick<SearchText, 'include' | 'exclude'>,
  tokens: readonly string[],
  scope: SearchScope,
): string {
  const { wanted, unwanted } = scopeTokens(scope);
  const all = [...include.map(printTerm), ...tokens.map(printToken), ...wanted];
  return join(all.length > 0 ? all : [printToken(anyPostToken)], [
    ...exclude.map(printTerm),
    ...unwanted,
  ]);
}

/** Returns an FTS5 expression for the full-text index `account_words`. */
export function toUserMatchExpression(
  { include, exclude, unfinished }: UserSearchText,
  scope: SearchScope,
): string {
  const { wanted, unwanted } = scopeTokens(scope);
  const print = ({ words }: Term) => `words : "${words.join(' ')}"`;
  const all = [
    ...include.map((term) => `${print(term)}${term === unfinished ? ' *' : ''}`),
    ...wanted,
  ];
  const allPlatforms = platform.options.map((name) => printToken(platformToken(name))).join(' OR ');
  return join(all.length > 0 ? all : [`(${allPlatforms})`], [...exclude.map(print), ...unwanted]);
}

function join(all: readonly string[], none: readonly string[]): string {
  const wanted = all.join(' AND ');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${none.join(' OR ')})`;
}

function scopeTokens(scope: SearchScope) {
  return scope === 'imports'
    ? { wanted: [], unwanted: [printToken(platformToken('sample'))] }
    : { wanted: [printToken(platformToken(scope))], unwanted: [] };
}

const printToken = (token: string): string => `marks : "${token}"`;

const printTerm = ({ column, words }: Term): string => `${column} : "${words.join(' ')}"`;
