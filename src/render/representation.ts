import { createHash } from 'node:crypto';
import type { Answer } from '../fetching/plan.ts';
import type { Format, PostResult } from '../model/results.ts';
import { formats } from './formats.ts';

/** The bytes of one representation of a result, with their media type and strong entity tag. */
export interface Representation {
  readonly body: Buffer;
  readonly mediaType: string;
  /** A strong entity tag (RFC 9110 §8.8.3): a hash of the body. */
  readonly etag: string;
  /** How many posts or accounts the result has. */
  readonly count: number;
}

/** What is rendered: a view of an answer. */
export interface View {
  /** Names what `assemble` and a format make of an answer; equal names, equal bytes. */
  readonly views: Readonly<Record<Format, string>>;
  assemble(answer: Answer): PostResult;
}

/** Gives a view of an answer in a format: the kept bytes, or new ones that are then kept. */
export function represent(view: View, answer: Answer, format: Format): Representation {
  const name = `bytes ${answer.cache === 'stale' ? 'stale ' : ''}${view.views[format]}`;
  // Only this function writes views under such a name.
  const kept = answer.views.get(name) as Representation | undefined;
  if (kept !== undefined) return kept;
  const { mediaType, render } = formats[format];
  const result = view.assemble(answer);
  const body = Buffer.from(render(result));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const representation = { body, mediaType, etag, count: result.posts.length };
  answer.views.set(name, representation, body.length);
  return representation;
}
