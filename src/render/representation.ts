import { createHash } from 'node:crypto';
import type { Sliced } from '../core/slices.ts';
import type { Answer } from '../fetching/plan.ts';
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

/** What is rendered: a view of an answer. */
export interface View {
  /** Names what `assemble` and a format make of an answer; equal names, equal bytes. */
  readonly views: Readonly<Record<Format, string>>;
  assemble(answer: Answer): Result;
}

/** Which view of which answer is rendered, and in what slices. */
export interface Representing extends Sliced {
  readonly view: View;
  readonly answer: Answer;
}

/** Returns a view of an answer in a format: the kept bytes, or new ones that are then kept. */
export async function represent(
  { view, answer, endSlice }: Representing,
  format: Format,
): Promise<Representation> {
  const name = `bytes ${answer.cache === 'stale' ? 'stale ' : ''}${view.views[format]}`;
  // Only this function writes views under such a name.
  const kept = answer.views.get(name) as Representation | undefined;
  if (kept !== undefined) return kept;
  const result = view.assemble(answer);
  const { body: text, mediaType, fileName } = await renderInSlices(result, format, { endSlice });
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const representation = { ...describe(result), body, mediaType, fileName, etag };
  answer.views.set(name, representation, body.length);
  return representation;
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
