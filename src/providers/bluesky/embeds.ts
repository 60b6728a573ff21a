import { z } from 'zod';
import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card } from '../../model/post.ts';
import {
  address,
  eachOf,
  joinLists,
  type List,
  lenient,
  readerOf,
  term,
  text,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { isWebUrl, webUrlOrNull } from '../../platforms/text.ts';
import { nameOf } from './accounts.ts';
import { blueskyProfileUrl, type RecordAddress, recordUri } from './address.ts';
import { judgeAccount } from './labels.ts';
import { actorPayload, labels } from './payload.ts';

// Embeds as the AppView resolves them. Each kind has a key of its own, and the keys decide: a
// `recordWithMedia` is one of the others in `media`, and a record inside a record.

const webUrl = url.refine(isWebUrl);

const aspectRatio = lenient(z.object({ width: z.number(), height: z.number() }));

/** Pictures of `images` have `thumb`, those of a gallery `thumbnail`; neither is needed. */
const picture = z.object({ fullsize: webUrl, alt: words, aspectRatio });
type PicturePayload = z.output<typeof picture>;

const video = z.object({
  playlist: webUrl,
  thumbnail: address,
  alt: words,
  aspectRatio,
  presentation: term,
});
type VideoPayload = z.output<typeof video>;

const external = z.object({
  uri: url,
  title: lenient(text),
  description: words,
  thumb: address,
});
type ExternalPayload = z.output<typeof external>;

const embed = z.object({
  images: eachOf(picture, maximums.media),
  items: eachOf(picture, maximums.media),
  external: lenient(external),
  record: lenient(z.looseObject({})),
  media: z.unknown().optional(),
});

export interface EmbedPayload {
  readonly pictures: List<PicturePayload>;
  readonly video: VideoPayload | null;
  readonly external: ExternalPayload | null;
  readonly record: unknown;
}

const readEmbed = readerOf(embed);
const readVideo = readerOf(video);
const nothing: EmbedPayload = { pictures: [], video: null, external: null, record: undefined };

/** Parses an embed. Parts that are absent or of an unknown form are `null` or empty. */
export function parseEmbed(value: unknown): EmbedPayload {
  const outer = readEmbed(value);
  if (outer === null) return nothing;
  const { record, media } = outer;
  const hasMedia = typeof media === 'object' && media !== null;
  if (!hasMedia) return { ...toMedia(outer, value), record: record ?? undefined };
  const inner = readEmbed(media);
  return { ...(inner === null ? nothing : toMedia(inner, media)), record: record?.record };
}

function toMedia({ images, items, external: page }: z.output<typeof embed>, value: unknown) {
  return { pictures: joinLists(images, items), video: readVideo(value), external: page };
}

/** A feed, a list, a starter pack or a labeler, which a post can embed as it can quote a post. */
const shownRecord = z.object({
  uri: recordUri,
  creator: actorPayload,
  labels,
  displayName: words,
  name: words,
  description: words,
  avatar: address,
  record: lenient(z.object({ name: words, description: words })),
});
type ShownRecord = z.output<typeof shownRecord>;
const readShown = readerOf(shownRecord);

/** Returns the media of embeds in display order. A card of a GIF service is the GIF. */
export function shapeMedia(embeds: readonly EmbedPayload[]): MediaSet {
  return toMediaSet(
    embeds.flatMap(({ pictures, video, external }) => [
      ...pictures.map(shapePicture),
      ...(video === null ? [] : [shapeVideo(video)]),
      ...(external !== null && isGif(external) ? [shapeGif(external)] : []),
    ]),
  );
}

/** Returns the card of embeds: the linked page, or the embedded record that is no post. */
export function shapeCard(embeds: readonly EmbedPayload[], nowMs: number): Card | null {
  const [card] = embeds.flatMap(({ external, record }) => {
    const page = external === null || isGif(external) ? null : shapePage(external);
    return [page ?? shapeShown(record, nowMs)].filter((each) => each !== null);
  });
  return card ?? null;
}

function shapePicture({ fullsize, alt, aspectRatio }: PicturePayload): Media {
  return { type: 'photo', url: fullsize, ...toSize(aspectRatio), alt };
}

/** The AppView has no mp4 and no duration. */
function shapeVideo({ playlist, thumbnail, alt, aspectRatio, presentation }: VideoPayload): Media {
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

/** Clients write the size in pixels, or a mere ratio such as 16 to 9, which is no size. */
const leastSize = 64;

function toSize(ratio: PicturePayload['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= leastSize;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

/** Hosts of the GIFs in the app, which shows a card of one of them as a moving picture. */
const gifHosts = /^(?:media\.tenor\.com|static\.klipy\.com|(?:[\w-]+\.)?giphy\.com)$/;

function isGif({ uri }: ExternalPayload): boolean {
  return isWebUrl(uri) && gifHosts.test(new URL(uri).hostname);
}

/** The app writes the size into the address, and the author's words after `Alt:`. */
function shapeGif({ uri, title, description, thumb }: ExternalPayload): Media {
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

function shapePage({ uri, title, description, thumb }: ExternalPayload): Card | null {
  if (!isWebUrl(uri)) return null;
  return { url: uri, title: title ?? '', description, image_url: webUrlOrNull(thumb) };
}

/** Returns the card of a record that is no post; `null` for a post, and if it or its creator is not served. */
function shapeShown(value: unknown, nowMs: number): Card | null {
  const shown = readShown(value);
  if (shown === null) return null;
  if ([shown, shown.creator].some((each) => judgeAccount(each, nowMs) !== null)) return null;
  const url = shownUrl(shown.uri, nameOf(shown.creator));
  return url === null ? null : { url, ...wordsOf(shown), image_url: webUrlOrNull(shown.avatar) };
}

function wordsOf({ displayName, name, record, creator, description }: ShownRecord) {
  return {
    title: displayName ?? name ?? record?.name ?? creator.displayName ?? nameOf(creator),
    description: description ?? record?.description ?? creator.description,
  };
}

function shownUrl({ collection, rkey }: RecordAddress, account: string): string | null {
  const profile = blueskyProfileUrl(account);
  switch (collection) {
    case 'app.bsky.feed.generator':
      return `${profile}/feed/${rkey}`;
    case 'app.bsky.graph.list':
      return `${profile}/lists/${rkey}`;
    case 'app.bsky.graph.starterpack':
      return profile.replace('/profile/', '/starter-pack/').concat(`/${rkey}`);
    case 'app.bsky.labeler.service':
      return profile;
    default:
      return null;
  }
}
