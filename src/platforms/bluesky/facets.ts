import { z } from 'zod';
import { hashtagUrl } from '../../model/addresses/urls.ts';
import type { Facet } from '../../model/post.ts';
import { lenient, listOf, token, tokenOrNull, url, urlOrNull } from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { nestRuns } from '../runs.ts';
import { codePointOffsets, isWebUrl } from '../text.ts';
import { blueskyProfileUrl, did } from './addresses.ts';

const feature = z.object({ $type: token, uri: urlOrNull, did: lenient(did), tag: tokenOrNull });

/** Facet with offsets in UTF-8 bytes: https://atproto.com/lexicons/app-bsky-richtext */
export const blueskyFacet = z.object({
  index: z.object({ byteStart: z.number().int(), byteEnd: z.number().int() }),
  features: listOf(feature, maximums.languages),
});

export type BlueskyFacet = z.output<typeof blueskyFacet>;

/** Converts to code point offsets. Omits facets that begin or end within a character. */
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

/** Link or mention before 2023, in UTF-16 units: https://atproto.com/lexicons/app-bsky-feed */
export const blueskyEntity = z.object({
  index: z.object({ start: z.number().int().min(0), end: z.number().int() }),
  type: token,
  value: url,
});

/** Converts the entities of an old post to facets with code point offsets. */
export function shapeEntities(
  text: string,
  entities: readonly z.output<typeof blueskyEntity>[],
): readonly Facet[] {
  if (entities.length === 0) return [];
  const offsetOf = codePointOffsets(text);
  const found = entities.flatMap(({ index, type, value }): readonly Facet[] => {
    const [target] = toTarget({
      $type: `app.bsky.richtext.facet#${type}`,
      uri: value,
      did: did.safeParse(value).data ?? null,
      tag: null,
    });
    if (target === undefined || index.end > text.length) return [];
    return [{ ...target, start: offsetOf(index.start), end: offsetOf(index.end) }];
  });
  return nestRuns(found, offsetOf(text.length));
}

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

function toTarget({
  $type,
  uri,
  did: account,
  tag,
}: BlueskyFacet['features'][number]): readonly Target[] {
  switch ($type) {
    case 'app.bsky.richtext.facet#link':
      return uri !== null && isWebUrl(uri) ? [{ type: 'link', url: uri }] : [];
    case 'app.bsky.richtext.facet#mention':
      return account === null ? [] : [{ type: 'mention', url: blueskyProfileUrl(account) }];
    case 'app.bsky.richtext.facet#tag':
      return toTagTarget(tag);
    default:
      return [];
  }
}

function toTagTarget(tag: string | null): readonly Target[] {
  const name = tag?.replace(/^[#＃]/u, '') ?? '';
  if (name === '' || /\p{Surrogate}/u.test(name)) return [];
  return [{ type: 'hashtag', url: hashtagUrl('bluesky', name, { baseUrl: '' }) }];
}
