import { isPermalinkHandle } from '../../src/reads/addresses/match-path.ts';
import { ownPaths, type PathPattern } from '../../src/reads/addresses/path-patterns.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly form: PathPattern;
  /** Path of the route without an operation of its own. */
  readonly isOther: boolean;
  /** Path of the route with parameter values. */
  readonly rowPath: string;
}

/** Route paths come first, because an alternative path can look like one of them. */
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
 * Returns the route path for a permalink: without a trailing slash, and with alternative paths replaced by
 * the main path of the route. A full URL is one parameter. Other paths are returned unchanged.
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
