import { Problem } from '../../core/problem.ts';
import { parseQuery } from '../../core/query.ts';
import type { AddressPlace } from '../../reads/address.ts';
import type { OwnRead } from './own-address.ts';
import { readPasted } from './pasted.ts';

/** What the front page is asked. */
export interface Question {
  /** What is in the box, trimmed. */
  readonly text: string;
  /** The read that it stands for, or why it stands for none. */
  readonly asked: OwnRead | Problem;
}

/** Tells whether the URL of the front page asks something. */
export function hasQuestion(url: string): boolean {
  return url.length > 1 && parseQuery(url).q !== undefined;
}

/** Returns what the URL of the front page asks, or the problem with it; it throws none. */
export function readQuestion(url: string, place: AddressPlace): Question {
  const { q = '' } = parseQuery(url);
  if (typeof q !== 'string') {
    const detail = 'The parameter `q` is given more than once; it takes one value.';
    return { text: q[0]?.trim() ?? '', asked: new Problem('invalid_option', { detail }) };
  }
  const text = q.trim();
  return { text, asked: text === '' ? nothingAsked() : understand(text, place) };
}

function nothingAsked(): Problem {
  return new Problem('missing_query', {
    detail:
      'The parameter `q` is empty; it takes the URL of a post, an account or a search, an `@handle`, or words to search for.',
  });
}

function understand(text: string, place: AddressPlace): OwnRead | Problem {
  try {
    return readPasted(text, place);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
