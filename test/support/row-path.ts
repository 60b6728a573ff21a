import { ownForms } from '../../src/reads/address-forms.ts';
import { isPermalinkHandle } from '../../src/reads/reserved-names.ts';

const rows = ownForms.filter(({ surface }) => surface === 'permalink');

/**
 * Returns the path of the row that answers at a permalink: without a slash at its end, and for another
 * path of a row that row's own. A whole URL is one parameter. What is no permalink stays as it is.
 */
export function toRowPath(path: string): string {
  if (/^\/https?:/.test(path)) return '/https://address';
  if (path.startsWith('/api/')) return path;
  const plain = path.length > 1 ? path.replace(/\/$/, '') : path;
  const isOf = (template: string) => toPattern(template).test(plain);
  const isKept = !isPermalinkHandle(plain.split('/')[1] ?? '');
  if (rows.some((row) => isOf(row.path) && !(isKept && row.path.startsWith('/{')))) return plain;
  if (isKept) return path;
  const row = rows.find(({ also = [] }) =>
    also.some((form) => isOf(form.path) && isAccount(form.handles, plain)),
  );
  return row?.path.replaceAll(/\{\w+\}/g, '1') ?? plain;
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function isAccount(handles: RegExp | undefined, path: string): boolean {
  return handles === undefined || path.split('/').some((segment) => handles.test(segment));
}
