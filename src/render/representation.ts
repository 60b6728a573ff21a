import { createHash } from 'node:crypto';
import type { ViewStore } from '../fetching/plan.ts';
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

/** What a representation is made of, and where it is kept. */
export interface RepresentationSource {
  readonly views: ViewStore;
  /** Names the view; equal names of one answer have equal bytes. */
  readonly view: string;
  /** Makes the result; called only when nothing is kept yet. */
  readonly result: () => PostResult;
}

/** Gives a result in a format: the kept bytes, or newly rendered ones that are then kept. */
export function represent(source: RepresentationSource, format: Format): Representation {
  const name = `${format} ${source.view}`;
  // Only this function writes views under such a name.
  const kept = source.views.get(name) as Representation | undefined;
  if (kept !== undefined) return kept;
  const { mediaType, render } = formats[format];
  const result = source.result();
  const body = Buffer.from(render(result));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const representation = { body, mediaType, etag, count: result.posts.length };
  source.views.set(name, representation, body.length);
  return representation;
}
