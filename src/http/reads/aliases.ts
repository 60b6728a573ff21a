import type { ParsedUrlQuery } from 'node:querystring';
import { Problem, quoteInput } from '../../core/problem.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { type AliasRoute, findVersioned, type ReadChoice } from './routes.ts';

/** Returns the read of an alias request. Throws `invalid_resource`, `invalid_option` or `invalid_handle`. */
export function chooseRead(route: AliasRoute, query: ParsedUrlQuery): ReadId {
  const read = typeof route.read === 'string' ? route.read : readNamed(route.read, query);
  // In v1 it stands in the path and cannot be missing.
  if (findVersioned(read).path.includes('{handle}') && query.handle === undefined) {
    throw new Problem('invalid_handle', {
      detail: 'The parameter `handle` is missing; it takes the handle of an account.',
    });
  }
  return read;
}

/** Returns the read that a request to an alias names; `null` if it names none. */
export function findRead({ read }: AliasRoute, query: ParsedUrlQuery): ReadId | null {
  return typeof read === 'string' ? read : findNamed(read, query);
}

function findNamed({ parameter, reads: named }: ReadChoice, query: ParsedUrlQuery): ReadId | null {
  const value = query[parameter];
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(named, name) ? (named[name] ?? null) : null;
}

function readNamed(choice: ReadChoice, query: ParsedUrlQuery): ReadId {
  const read = findNamed(choice, query);
  if (read !== null) return read;
  const value = query[choice.parameter];
  const name = `The parameter \`${choice.parameter}\``;
  if (Array.isArray(value)) {
    throw new Problem('invalid_option', {
      detail: `${name} is given more than once; it takes one value.`,
    });
  }
  const fault = value === undefined ? 'is missing' : `has the value ${quoteInput(value)}`;
  throw new Problem('invalid_resource', {
    detail: `${name} ${fault}; it takes ${listWords(Object.keys(choice.reads))}.`,
  });
}

function listWords(words: readonly string[]): string {
  const quoted = words.map((word) => `\`${word}\``);
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/** Returns the parameters that the read knows. */
export function pickParameters(read: ReadId, query: ParsedUrlQuery): ParsedUrlQuery {
  const { shape } = reads[read].params;
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(shape, name)));
}
