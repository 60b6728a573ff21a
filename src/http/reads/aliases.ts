import type { ParsedUrlQuery } from 'node:querystring';
import { Problem, quoteInput } from '../../core/problem.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { type AliasRoute, findVersioned } from './routes.ts';

/**
 * Returns the read that a request to an alias asks for.
 *
 * @throws Problem `invalid_resource` or `invalid_option` if the parameter does not name one read, `invalid_handle` if
 *   the read is of an account and none is named
 */
export function chooseRead(route: AliasRoute, query: ParsedUrlQuery): ReadId {
  const read = findRead(route, query) ?? refuseChoice(route, query);
  // In v1 it stands in the path and cannot be missing.
  if (findVersioned(read).path.includes('{handle}') && query.handle === undefined) {
    throw new Problem('invalid_handle', {
      detail: 'The parameter `handle` is missing; it takes the handle of an account.',
    });
  }
  return read;
}

/** Returns the read that a request to an alias names, or `null`. */
export function findRead({ read }: AliasRoute, query: ParsedUrlQuery): ReadId | null {
  if (typeof read === 'string') return read;
  const value = query[read.parameter];
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(read.reads, name) ? (read.reads[name] ?? null) : null;
}

function refuseChoice({ read }: AliasRoute, query: ParsedUrlQuery): never {
  if (typeof read === 'string') throw new Error('An alias of one read needs no choice.');
  const value = query[read.parameter];
  const name = `The parameter \`${read.parameter}\``;
  if (Array.isArray(value)) {
    throw new Problem('invalid_option', {
      detail: `${name} is given more than once; it takes one value.`,
    });
  }
  const fault = value === undefined ? 'is missing' : `has the value ${quoteInput(value)}`;
  const words = Object.keys(read.reads).map((word) => `\`${word}\``);
  const taken = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  throw new Problem('invalid_resource', { detail: `${name} ${fault}; it takes ${taken}.` });
}

/** Returns the parameters that an alias passes on: those that the read knows. */
export function pickParameters(read: ReadId, query: ParsedUrlQuery): ParsedUrlQuery {
  const { shape } = reads[read].params;
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(shape, name)));
}
