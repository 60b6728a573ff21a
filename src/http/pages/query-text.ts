import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../core/http/query.ts';
import { Problem } from '../../core/problem.ts';
import { maxQueryLength } from './paths.ts';

/**
 * Gives the text that a page is asked with as `q`, trimmed and without control characters; empty where
 * there is none.
 *
 * @throws Problem `invalid_option` where it is given twice, `invalid_query` where it is too long
 */
export function readText({ raw }: FastifyRequest): string {
  const { q = '' } = parseQuery(raw.url ?? '');
  if (Array.isArray(q)) {
    throw new Problem('invalid_option', {
      detail: 'The parameter `q` is given more than once; it takes one value.',
    });
  }
  const text = q.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (text.length <= maxQueryLength) return text;
  throw new Problem('invalid_query', {
    detail: `The parameter \`q\` has ${text.length} characters; it takes at most ${maxQueryLength}.`,
  });
}
