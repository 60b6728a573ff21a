import { isPermalinkHandle } from '../../src/reads/addresses/match-path.ts';
import { ownPaths, type PathPattern } from '../../src/reads/addresses/path-patterns.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly form: PathPattern;
  /** A path of the row that has no operation of its own. */
  readonly isOther: boolean;
  /** The path of the row, filled in. */
  readonly rowPath: string;
}

/** The paths of the rows come first: another path of a row can look like one of them. */
const knownPaths: readonly KnownPath[] = ownPaths
  .filter(({ surface }) => surface === 'permalink')
  .flatMap((row) =>
    [row, ...(row.also ?? [])].map((form) => ({
      pattern: new RegExp(`^${form.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      form,
      isOther: form !== row,
      rowPath: row.path.replaceAll(/\{\w+\}/g, '1'),
    })),
  )
  .toSorted((a, b) => Number(a.isOther) - Number(b.isOther));

/**
 * Returns the path of the row that answers at a permalink: without a slash at its end, and for another
 * path of a row that row's own. A whole URL is one parameter. What is no permalink stays as it is.
 */
export function toRowPath(path: string): string {
  if (/^\/https?:/.test(path)) return '/https://address';
  if (path.startsWith('/api/')) return path;
  const plain = path.length > 1 ? path.replace(/\/$/, '') : path;
  const isKept = !isPermalinkHandle(plain.split('/')[1] ?? '');
  const known = knownPaths.find(
    ({ pattern, form }) =>
      pattern.test(plain) && !(isKept && form.path.startsWith('/{')) && isAccount(form, plain),
  );
  if (known === undefined) return isKept ? path : plain;
  return known.isOther ? known.rowPath : plain;
}

function isAccount({ handles }: PathPattern, path: string): boolean {
  return handles === undefined || path.split('/').some((segment) => handles.test(segment));
}
