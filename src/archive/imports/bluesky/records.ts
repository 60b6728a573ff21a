import { CID } from 'multiformats/cid';
import { z } from 'zod';
import { blueskyFacet } from '../../../platforms/bluesky/facets.ts';
import {
  lenient,
  listOf,
  text,
  textOrNull,
  token,
  url,
  urlOrNull,
} from '../../../platforms/lenient.ts';
import { maximums } from '../../../platforms/maximums.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import { link } from './car.ts';

/**
 * Schemas of the imported Bluesky records, whose lexicons are at https://atproto.com/lexicons/app-bsky-feed, `-graph`
 * and `-actor`. Records with an invalid required member are skipped. Other invalid members are ignored.
 */

const timeMs = token
  .transform(readTimeMs)
  .nullish()
  .transform((ms) => ms ?? null);

const labels = z
  .object({ values: listOf(z.object({ val: token }), maximums.labels) })
  .transform(({ values }): readonly string[] => values.map(({ val }) => val));

const selfLabels = lenient(labels).transform((values) => values ?? []);

/**
 * Schema of a reference to a file. The output is the file's CID, from `ref` or, in records from before 2023, from
 * `cid`.
 */
const blob = z.union([
  z.object({ ref: link }).transform(({ ref }) => ref.toString()),
  z.object({ cid: token }).transform(({ cid }, context) => {
    try {
      return CID.parse(cid).toString();
    } catch {
      context.addIssue({ code: 'custom', message: 'This is not a CID.' });
      return z.NEVER;
    }
  }),
]);

const aspectRatio = lenient(z.object({ width: z.number().min(1), height: z.number().min(1) }));
const picture = z.object({ image: blob, alt: textOrNull, aspectRatio });

/** Schema of a record's URI, `at://did/collection/key`. A URI in another form becomes `null`. */
const recordAddress = url.transform((uri) => {
  const [match, did = '', collection = '', key = ''] =
    /^at:\/\/(did:[a-z]+:[A-Za-z0-9._:%-]{1,250})\/([A-Za-z0-9.-]{1,317})\/([A-Za-z0-9._:~-]{1,512})$/.exec(
      uri,
    ) ?? [];
  return match === undefined ? null : { did, collection, key };
});

const strongRef = z.object({ uri: recordAddress, cid: token });

const mediaEmbed = z.discriminatedUnion('$type', [
  z.object({ $type: z.literal('app.bsky.embed.images'), images: listOf(picture, maximums.media) }),
  z.object({ $type: z.literal('app.bsky.embed.gallery'), items: listOf(picture, maximums.media) }),
  z.object({ $type: z.literal('app.bsky.embed.video'), video: blob, alt: textOrNull, aspectRatio }),
  z.object({
    $type: z.literal('app.bsky.embed.external'),
    external: z.object({
      uri: url,
      title: lenient(text),
      description: textOrNull,
      thumb: lenient(blob),
    }),
  }),
]);

const embed = z.discriminatedUnion('$type', [
  ...mediaEmbed.options,
  z.object({ $type: z.literal('app.bsky.embed.record'), record: strongRef }),
  z.object({
    $type: z.literal('app.bsky.embed.recordWithMedia'),
    record: z.object({ record: strongRef }).transform(({ record }) => record),
    media: lenient(mediaEmbed),
  }),
]);

export type Embed = z.output<typeof embed>;

/** Images, video or link card that is attached to a post. */
export type MediaEmbed = z.output<typeof mediaEmbed>;

export const postRecord = z.object({
  $type: z.literal('app.bsky.feed.post'),
  text,
  createdAt: timeMs,
  facets: listOf(blueskyFacet, maximums.facets),
  langs: listOf(token, maximums.languages),
  reply: lenient(z.object({ parent: z.object({ uri: recordAddress }) })),
  embed: lenient(embed),
  labels: selfLabels,
});

export type PostRecord = z.output<typeof postRecord>;

export const repostRecord = z.object({
  $type: z.literal('app.bsky.feed.repost'),
  subject: z.object({ uri: recordAddress }),
  createdAt: timeMs,
});

export const followRecord = z.object({
  $type: z.literal('app.bsky.graph.follow'),
  subject: z.string().regex(/^did:[a-z]+:[A-Za-z0-9._:%-]{1,250}$/),
});

/** Profile record, `app.bsky.actor.profile`. A repository has at most one profile, with the key `self`. */
export const profileRecord = z.object({
  $type: z.literal('app.bsky.actor.profile'),
  displayName: textOrNull,
  description: textOrNull,
  website: urlOrNull,
  avatar: lenient(blob),
  banner: lenient(blob),
  createdAt: timeMs,
  labels: selfLabels,
});

export type ProfileRecord = z.output<typeof profileRecord>;

/** Schema of a commit, the root block of a repository. `data` is the CID of the root of the record tree. */
export const commit = z.object({
  did: z.string().regex(/^did:(?:plc:[a-z2-7]{24}|web:[A-Za-z0-9.%-]{1,253})$/),
  version: z.number(),
  data: link,
});

/** Alphabet of TIDs, which are record keys that encode a time. */
const tidLetters = '234567abcdefghijklmnopqrstuvwxyz';

/** Returns the time in a record key in Unix ms; `null` if the key is not a TID (https://atproto.com/specs/tid). */
export function timeOfKey(key: string): number | null {
  if (!/^[2-7a-j][2-7a-z]{12}$/.test(key)) return null;
  let value = 0n;
  for (const letter of key) value = value * 32n + BigInt(tidLetters.indexOf(letter));
  return Number(value >> 10n) / 1000;
}
