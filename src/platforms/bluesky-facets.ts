import { z } from 'zod';
import type { Facet } from '../model/post.ts';
import { hashtagUrl, profileUrl } from '../model/reference.ts';
import { address, eachOf, lenient, term, token } from './lenient.ts';
import { maximums } from './maximums.ts';
import { settleRuns } from './runs.ts';
import { isWebUrl } from './text.ts';

const did = z.string().regex(/^did:[a-z]+:[A-Za-z0-9._:%-]{1,2000}$/);

const feature = z.object({ $type: token, uri: address, did: lenient(did), tag: term });

/**
 * A marked run of a post's text; offsets count bytes of UTF-8, end exclusive. Source: the lexicon
 * `app.bsky.richtext.facet`, https://atproto.com/lexicons/app-bsky-richtext
 */
export const blueskyFacet = z.object({
  index: z.object({ byteStart: z.number().int(), byteEnd: z.number().int() }),
  features: eachOf(feature, maximums.languages),
});

export type BlueskyFacet = z.output<typeof blueskyFacet>;

/** Returns the facets of a text in code points; those that cut a character are left out. */
export function shapeFacets(text: string, facets: readonly BlueskyFacet[]): readonly Facet[] {
  if (facets.length === 0) return [];
  const { points, length } = pointsOfBytes(text);
  const runs = facets.flatMap(({ index, features }): readonly Facet[] => {
    const start = points[index.byteStart] ?? -1;
    const end = points[index.byteEnd] ?? -1;
    const [target] = features.flatMap(toTarget);
    return target === undefined || start < 0 || end < 0 ? [] : [{ ...target, start, end }];
  });
  return settleRuns(runs, length);
}

/** Returns the code point that begins at each byte, the end of the text included; -1 within one. */
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

/** Unknown kinds of feature are passed over. */
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

/** A lone surrogate cannot be written into a URL. */
function toTagTarget(tag: string | null): readonly Target[] {
  const name = tag?.replace(/^[#＃]/u, '') ?? '';
  if (name === '' || /\p{Surrogate}/u.test(name)) return [];
  return [{ type: 'hashtag', url: hashtagUrl('bluesky', name, { baseUrl: '' }) }];
}
