import * as z from 'zod';
import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card } from '../../model/post.ts';
import {
  joinLists,
  lenient,
  listOf,
  parserOf,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { isWebUrl, webUrlOrNull } from '../text.ts';
import { nameOf, restrictionOf } from './account.ts';
import { pageOfRecord, postCollection, type RecordAddress, recordUri } from './addresses.ts';
import { actorPayload, labels, parseMissing } from './wire.ts';

// Embeds of posts. A `recordWithMedia` has an embed in `media` and a record within `record`.

const webUrl = url.refine(isWebUrl);
const aspectRatio = lenient(z.object({ width: z.number(), height: z.number() }));

const pictures = listOf(
  z.object({ fullsize: webUrl, alt: textOrNull, aspectRatio }),
  maximums.media,
);

const readVideo = parserOf(
  z.object({
    playlist: webUrl,
    thumbnail: urlOrNull,
    alt: textOrNull,
    aspectRatio,
    presentation: tokenOrNull,
  }),
);

const embed = z.object({
  images: pictures,
  items: pictures,
  external: lenient(
    z.object({ uri: url, title: lenient(text), description: textOrNull, thumb: urlOrNull }),
  ),
  record: lenient(z.looseObject({})),
  media: z.unknown().optional(),
});

const readEmbed = parserOf(embed);

export type EmbedPayload = ReturnType<typeof parseEmbed>;

/** Parses an embed of a post. Absent or malformed parts become `null` or empty. */
export function parseEmbed(value: unknown) {
  const outer = readEmbed(value);
  const { record, media } = outer ?? {};
  const hasMedia = typeof media === 'object' && media !== null;
  if (!hasMedia) return { ...toMedia(outer, value), record: record ?? undefined };
  return { ...toMedia(readEmbed(media), media), record: record?.record };
}

export interface EmbedParts {
  readonly hasMedia: boolean;
  readonly hasRecord: boolean;
}

const readParts = parserOf(
  z.object({ record: z.unknown().optional(), media: z.unknown().optional() }),
);

/** Returns which parts an embed has, whether they are readable or not. */
export function partsOf(value: unknown): EmbedParts {
  const { record, media } = readParts(value) ?? {};
  if (media !== undefined) return { hasMedia: isFilled(media), hasRecord: isFilled(record) };
  const hasRecord = isFilled(record);
  return { hasMedia: !hasRecord && isFilled(value), hasRecord };
}

function isFilled(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return !isEmpty(part);
  return Object.entries(part).some(([name, value]) => name !== '$type' && !isEmpty(value));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

function toMedia(embed: ReturnType<typeof readEmbed>, value: unknown) {
  const { images = [], items = [], external = null } = embed ?? {};
  return { pictures: joinLists(images, items), video: embed && readVideo(value), external };
}

const parseShown = parserOf(
  z.object({
    uri: recordUri,
    creator: actorPayload,
    labels,
    displayName: textOrNull,
    name: textOrNull,
    description: textOrNull,
    avatar: urlOrNull,
    record: lenient(z.object({ name: textOrNull, description: textOrNull })),
  }),
);

type External = NonNullable<EmbedPayload['external']>;
type Picture = EmbedPayload['pictures'][number];
type Video = NonNullable<EmbedPayload['video']>;

/** Returns media in display order. A link to a GIF on a known GIF service counts as media. */
export function shapeMedia(embeds: readonly EmbedPayload[]): MediaSet {
  return toMediaSet(
    embeds.flatMap(({ pictures, video, external }) => [
      ...pictures.map(({ fullsize: url, alt, aspectRatio }): Media => {
        return { type: 'photo', url, ...toSize(aspectRatio), alt };
      }),
      ...(video === null ? [] : [shapeVideo(video)]),
      ...(external !== null && isGif(external) ? [shapeGif(external)] : []),
    ]),
  );
}

function shapeVideo({ playlist, thumbnail, alt, aspectRatio, presentation }: Video): Media {
  return {
    type: presentation === 'gif' ? 'gif' : 'video',
    url: playlist,
    ...toSize(aspectRatio),
    alt,
    thumbnail_url: webUrlOrNull(thumbnail),
    duration: null,
    variants: [{ url: playlist, content_type: 'application/x-mpegURL', bitrate: null }],
  };
}

const minSize = 64; // pixels; smaller sizes are a ratio, such as 16 to 9, which some clients send

function toSize(ratio: Picture['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= minSize;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

const gifHosts = /^(?:media\d{0,2}\.tenor\.com|static\.klipy\.com|(?:i|media\d{0,2})\.giphy\.com)$/;

/** Pattern of the paths of files, because the same hosts have web pages too. */
const gifPaths = /\.(?:gif|webp|mp4|webm)$/i;

function isGif({ uri }: External): boolean {
  if (!isWebUrl(uri)) return false;
  const { hostname, pathname } = new URL(uri);
  return gifHosts.test(hostname) && gifPaths.test(pathname);
}

function shapeGif({ uri, title, description, thumb }: External): Media {
  const { searchParams } = new URL(uri);
  const pixels = (name: string) => Number.parseInt(searchParams.get(name) ?? '', 10) || null;
  return {
    type: 'gif',
    url: uri,
    width: pixels('ww'),
    height: pixels('hh'),
    alt: description?.replace(/^alt:\s*/i, '') || title || null,
    thumbnail_url: webUrlOrNull(thumb),
    duration: null,
  };
}

const parseReference = parserOf(
  z.strictObject({ $type: token.optional(), uri: recordUri, cid: token }),
);

/** Returns the link preview of the first web page in a post that is not a GIF. */
export function shapePageCard(embeds: readonly EmbedPayload[]): Card | null {
  const pages = embeds.flatMap(({ external }) => external ?? []);
  const page = pages.find((each) => isWebUrl(each.uri) && !isGif(each));
  if (page === undefined) return null;
  const { uri, title, description, thumb } = page;
  return { url: uri, title: title ?? '', description, image_url: webUrlOrNull(thumb) };
}

/** Returns the link preview of an embedded record; `null` for quoted posts and hidden records. */
export function shapeRecordCard(value: unknown, nowMs: number): Card | null {
  const uri = parseReference(value)?.uri ?? findMissing(value);
  if (uri !== null) {
    const page = pageOfRecord(uri, uri.did);
    return page && { ...page, description: null, image_url: null };
  }
  const shown = parseShown(value);
  return shown === null ? null : shapeShown(shown, nowMs);
}

function findMissing(value: unknown): RecordAddress | null {
  const { uri = null } = parseMissing(value) ?? {};
  return uri?.collection === postCollection ? null : uri;
}

function shapeShown(shown: NonNullable<ReturnType<typeof parseShown>>, nowMs: number): Card | null {
  if ([shown, shown.creator].some((each) => restrictionOf(each, nowMs) !== null)) return null;
  const { uri, displayName, name, record, creator, description, avatar } = shown;
  const page = pageOfRecord(uri, nameOf(creator));
  if (page === null) return null;
  const isLabeler = uri.collection === 'app.bsky.labeler.service';
  const ownName = isLabeler ? (creator.displayName ?? nameOf(creator)) : page.title;
  return {
    url: page.url,
    title: displayName ?? name ?? record?.name ?? ownName,
    description: description ?? record?.description ?? creator.description,
    image_url: webUrlOrNull(avatar),
  };
}
