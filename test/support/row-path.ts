import {
  isPermalinkHandle,
  ownPaths,
  type PathPattern,
} from '../../src/reads/addresses/own-paths.ts';

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
      pattern: new RegExp(`^${toExpression(form.path)}$`),
      form,
      isOther: form !== row,
      rowPath: row.path.replaceAll(/\{\w+\}/g, '1'),
    })),
  )
  .toSorted((a, b) => Number(a.isOther) - Number(b.isOther));

/** Route of addresses in the path, with or without a scheme. */
export const addressPath = '/https://address';

/** A number consists of digits, other parameters of one segment, and `/*` of any further path. */
function toExpression(path: string): string {
  const segments = path.replaceAll('{number}', '\\d+').replaceAll(/\{\w+\}/g, '[^/]+');
  return segments.replace(/\/\*$/, '(?:/.*)?');
}

/**
 * Returns the route path for a permalink: without a trailing slash, and with alternative paths replaced by
 * the main path of the route. A full URL is one parameter. Other paths are returned unchanged.
 */
export function toRowPath(path: string): string {
  if (/^\/(?:https?|at)(?::|%3a)/i.test(path)) return addressPath;
  if (path.startsWith('/api/') || path.endsWith('/rss')) return path;
  const plain = path.length > 1 ? path.replace(/\/$/, '') : path;
  const isKept = !isPermalinkHandle(plain.split('/')[1] ?? '');
  const known = knownPaths.find(
    ({ pattern, form }) =>
      pattern.test(plain) && !(isKept && form.path.startsWith('/{')) && isAccount(form, plain),
  );
  if (known !== undefined) return known.isOther ? known.rowPath : plain;
  return isKept ? path : toUnknownPath(plain);
}

/** A path of several segments that starts with a host is an address without a scheme. */
const toUnknownPath = (path: string): string =>
  /^\/[^/]+\.[^/]+\/./.test(path) ? addressPath : path;

function isAccount({ handles }: PathPattern, path: string): boolean {
  return handles === undefined || path.split('/').some((segment) => handles.test(segment));
}
