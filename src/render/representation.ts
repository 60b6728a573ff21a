import { createHash } from 'node:crypto';
import type { Sliced } from '../core/scheduling/slices.ts';
import type { Format, Result } from '../model/results.ts';
import { renderInSlices } from './formats.ts';

/** The bytes of one representation of a result, with what its headers say of it. */
export interface Representation {
  readonly kind: Result['kind'];
  readonly body: Buffer;
  readonly mediaType: string;
  /** The name of the file that it is meant to be saved as; null for a body that is meant to be shown. */
  readonly fileName: string | null;
  /** A strong entity tag (RFC 9110 §8.8.3): a hash of the body. */
  readonly etag: string;
  /** How many posts or accounts the result has. */
  readonly count: number;
  /** The address of the oEmbed document, where the result is of a post. */
  readonly embedUrl: string | null;
  /** Whether the results of a search are not live. */
  readonly degraded: boolean;
}

/** Represents a result in a format, in slices. */
export async function represent(
  result: Result,
  format: Format,
  sliced: Sliced,
): Promise<Representation> {
  const { body: text, mediaType, fileName } = await renderInSlices(result, format, sliced);
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  return { ...describe(result), body, mediaType, fileName, etag };
}

function describe(
  result: Result,
): Pick<Representation, 'kind' | 'count' | 'embedUrl' | 'degraded'> {
  const { kind } = result;
  switch (kind) {
    case 'post':
      return { kind, count: result.posts.length, embedUrl: result.embedUrl, degraded: false };
    case 'browse':
      return { kind, count: countItems(result), embedUrl: null, degraded: result.degraded };
    case 'embed':
      return { kind, count: 1, embedUrl: null, degraded: false };
  }
}

function countItems({ items }: Extract<Result, { kind: 'browse' }>): number {
  if (items === null) return 0;
  return 'posts' in items ? items.posts.length : items.users.length;
}
