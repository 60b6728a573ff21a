import { Problem } from '../../core/problem.ts';
import { parseQuery } from '../query.ts';
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

/** Gives what the URL of the front page asks, or which problem it is; it throws none. */
export function readQuestion(url: string, baseUrl: string): Question {
  const { q = '' } = parseQuery(url);
  if (typeof q !== 'string') {
    const detail = 'The parameter `q` is given more than once; it takes one value.';
    return { text: q[0]?.trim() ?? '', asked: new Problem('invalid_option', { detail }) };
  }
  const text = q.trim();
  return { text, asked: text === '' ? nothingAsked() : understand(text, baseUrl) };
}

function nothingAsked(): Problem {
  return new Problem('missing_query', {
    detail:
      'The parameter `q` is empty; it takes the URL of a post or an account, a handle, or words to search for.',
  });
}

function understand(text: string, baseUrl: string): OwnRead | Problem {
  try {
    return readPasted(text, baseUrl);
  } catch (error) {
    if (error instanceof Problem) return asOfQuestion(error);
    throw error;
  }
}

/** Here the URL comes as `q`, and a detail names the parameter that was sent. */
function asOfQuestion(problem: Problem): Problem {
  const detail = problem.message.replace('The parameter `url`', 'The parameter `q`');
  return new Problem(problem.code, { detail, cause: problem });
}
