import { encodeComponent } from '../../core/http/encode-component.ts';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import type { AddressedRead } from './address.ts';
import { type OwnForm, ownForms, type PathForm } from './address-forms.ts';
import {
  isMediaNumber,
  isPermalinkHandle,
  matchPath,
  type PathParameters,
  splitPath,
  toReadParameters,
} from './match-path.ts';

/** The paths with the fewest parameters come first, so that words win over parameters. */
const ownPaths = ownForms
  .flatMap((row) => [row, ...(row.also ?? [])].map((form) => ({ row, form })))
  .toSorted((a, b) => a.form.path.split('{').length - b.form.path.split('{').length);

/** Returns the read at a path of this server; `null` without one, and for oEmbed and histories, which have no page. */
export function matchOwnPath(path: string, search: string): AddressedRead | null {
  const segments = splitPath(path);
  for (const { row, form } of ownPaths) {
    const parameters = matchPath(form, segments);
    if (parameters === null || !accepts(row, form, parameters)) continue;
    if (parameters.n !== undefined && !isMediaNumber(parameters.n)) continue;
    const { read } = row;
    if (read === 'getOEmbed' || read === 'importProfilePosts') return null;
    const query = parseQuery(search);
    return { read, given: joinParameters(query, toReadParameters(form, parameters)) };
  }
  return null;
}

/** Returns whether a row answers at one of its paths for the handle there. */
export function accepts(
  { surface }: Pick<OwnForm, 'surface'>,
  { handles }: PathForm,
  { handle }: PathParameters,
): boolean {
  if (handle === undefined) return true;
  if (handles?.test(handle) === false) return false;
  return surface !== 'permalink' || isPermalinkHandle(handle);
}

/** Returns the path and query of this server for a read; a handle that is no permalink is read under v1. */
export function toOwnAddress({ read, given }: AddressedRead, surface: OwnForm['surface']): string {
  const { handle } = given;
  const isShort = typeof handle === 'string' && isPermalinkHandle(handle);
  const rows = ownForms.filter((one) => one.read === read);
  const fits = ({ path }: OwnForm) => !path.includes('{handle}') || isShort;
  const row =
    rows.find((one) => one.surface === surface && fits(one)) ??
    rows.find((one) => one.surface === 'v1');
  if (row === undefined) throw new Error(`The read ${read} has no path.`);
  const inPath = new Set([...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  // Handles are easier to read with `@` and `:` as they are, which a path allows.
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeComponent(String(given[name])).replaceAll('%40', '@').replaceAll('%3A', ':'),
  );
  const others = Object.entries(given).filter(([name]) => !inPath.has(name));
  const query = others.flatMap(([name, values = []]) =>
    [values].flat().map((value) => `${name}=${encodeComponent(value)}`),
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}
