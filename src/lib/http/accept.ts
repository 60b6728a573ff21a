/** Content codings that Perch can apply to the body of a reply (RFC 9110 §8.4.1). */
export type Coding = 'gzip' | 'br';

const textType =
  /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml)\b|image\/svg\+xml)/;

/** Size in bytes up to which a body is not worth compressing. */
const smallBytes = 1024;

/** Returns whether Perch compresses bodies of a media type and size for clients that accept it. */
export const isCompressible = (mediaType: string | undefined, bytes: number): boolean =>
  bytes > smallBytes && mediaType !== undefined && textType.test(mediaType);

/** Returns the preferred coding (RFC 9110 §12.5.3) or `null`. Ties: named Brotli, then gzip. */
export function chooseCoding(accepted: string): Coding | null {
  const items = parseWeighted(accepted);
  const weigh = (...names: readonly string[]) =>
    items.find(({ name }) => names.includes(name))?.quality;
  const any = weigh('*') ?? 0;
  const gzip = { coding: 'gzip', quality: weigh('gzip', 'x-gzip') ?? any } as const;
  const named = weigh('br');
  const br = { coding: 'br', quality: named ?? any } as const;
  const best =
    br.quality > gzip.quality || (br.quality === gzip.quality && named !== undefined) ? br : gzip;
  return best.quality > 0 && best.quality >= (weigh('identity') ?? 0) ? best.coding : null;
}

const cached = { headers: 1000, length: 100 };

/** Creates a variant of `chooseCoding` that caches its results. */
export function createCodingChoice(): (accepted: string | undefined) => Coding | null {
  const choices = new Map<string, Coding | null>();
  return (accepted) => {
    if (accepted === undefined) return null;
    const known = choices.get(accepted);
    if (known !== undefined) return known;
    const chosen = chooseCoding(accepted);
    if (choices.size < cached.headers && accepted.length <= cached.length) {
      choices.set(accepted, chosen);
    }
    return chosen;
  };
}

/** Returns the `ETag` of a compressed body. Strong tags differ by coding (RFC 9110 §8.8.3.3). */
export const toCodedEtag = (etag: string, coding: Coding): string =>
  `${etag.slice(0, -1)}-${coding}"`;

const codingSuffix = /^(?:(?:--?|;)(?:x-gzip|gzip|gz|br|zstd|deflate)){0,2}"$/;

/** Returns whether tags match weakly (RFC 9110 §13.1.2), or `*`. Ignores the suffix of a coding. */
export function matchesEtag(known: string | undefined, etag: string): boolean {
  if (known === undefined) return false;
  if (known.trim() === '*') return true;
  const start = etag.slice(0, -1);
  return known.split(',').some((listed) => {
    const tag = listed.trim().replace(/^W\//, '');
    return tag.startsWith(start) && codingSuffix.test(tag.slice(start.length));
  });
}

/** Item of a header such as `Accept`: lower-case name, weight and position. */
export interface WeightedItem {
  readonly name: string;
  /** Weight from 0 (not acceptable) to 1 (RFC 9110 §12.4.2). An invalid weight counts as 0. */
  readonly quality: number;
  readonly position: number;
}

const maxItems = 50;

/** Parses names with weights, such as `gzip, br;q=0.5`. Ignores all items after the first 50. */
export const parseWeighted = (header: string): readonly WeightedItem[] =>
  header.split(',', maxItems).map(parseItem);

function parseItem(text: string, position: number): WeightedItem {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((part) => part.startsWith('q='));
  const quality = q === undefined ? 1 : Number(q.slice(2));
  return { name, position, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
