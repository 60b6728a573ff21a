import { z } from 'zod';
import { hashtagUrl, profileUrl } from '../../model/addresses/urls.ts';
import type { Facet } from '../../model/post.ts';
import { lenient, listOf, token, tokenOrNull, urlOrNull } from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { nestRuns } from '../runs.ts';
import { isWebUrl } from '../text.ts';

const did = z.string().regex(/^did:[a-z]+:[A-Za-z0-9._:%-]{1,2000}$/);
const feature = z.object({ $type: token, uri: urlOrNull, did: lenient(did), tag: tokenOrNull });

/**
 * Schema of a Bluesky facet (link, mention or tag in a text). Offsets count UTF-8 bytes:
 * https://atproto.com/lexicons/app-bsky-richtext
 */
export const blueskyFacet = z.object({
  index: z.object({ byteStart: z.number().int(), byteEnd: z.number().int() }),
  features: listOf(feature, maximums.languages),
});

export type BlueskyFacet = z.output<typeof blueskyFacet>;

/**
 * Converts Bluesky facets (links, mentions and tags) to facets with code point offsets. Omits
 * facets that begin or end within a character.
 */
export function shapeFacets(text: string, facets: readonly BlueskyFacet[]): readonly Facet[] {
  if (facets.length === 0) return [];
  const { points, length } = pointsOfBytes(text);
  const found = facets.flatMap(({ index, features }): readonly Facet[] => {
    const start = points[index.byteStart] ?? -1;
    const end = points[index.byteEnd] ?? -1;
    const [target] = features.flatMap(toTarget);
    return target === undefined || start < 0 || end < 0 ? [] : [{ ...target, start, end }];
  });
  return nestRuns(found, length);
}

/**
 * Maps each UTF-8 byte offset in a text to a code point offset (-1 within a character). Also
 * returns the number of code points.
 */
function pointsOfBytes(text: string) {
  const points = new Int32Array(Buffer.byteLength(text) + 1).fill(-1);
  let byte = 0;
  let length = 0;
  for (const point of text) {
    points[byte] = length;
    byte += Buffer.byteLength(point);
    length += 1;
  }
  points[byte] = length;
  return { points, length };
}

type Target = Required<Pick<Facet, 'type' | 'url'>>;

/**
 * Returns a list with the type and URL of a facet (link, mention or tag); an empty list if the type
 * is unknown or the URL is invalid.
 */
function toTarget({ $type, uri, did, tag }: BlueskyFacet['features'][number]): readonly Target[] {
  switch ($type) {
    case 'app.bsky.richtext.facet#link':
      return uri !== null && isWebUrl(uri) ? [{ type: 'link', url: uri }] : [];
    case 'app.bsky.richtext.facet#mention':
      return did === null ? [] : [{ type: 'mention', url: profileUrl('bluesky', did, '') }];
    case 'app.bsky.richtext.facet#tag':
      return toTagTarget(tag);
    default:
      return [];
  }
}

/** Returns a list with the link of a hashtag; an empty list if the tag is empty or cannot be encoded in a URL. */
function toTagTarget(tag: string | null): readonly Target[] {
  const name = tag?.replace(/^[#＃]/u, '') ?? '';
  if (name === '' || /\p{Surrogate}/u.test(name)) return [];
  return [{ type: 'hashtag', url: hashtagUrl('bluesky', name, { baseUrl: '' }) }];
}
