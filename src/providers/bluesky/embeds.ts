import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card } from '../../model/post.ts';
import { isWebUrl } from '../../platforms/text.ts';
import { nameOf, webUrlOrNull } from './account.ts';
import { blueskyProfileUrl, type RecordAddress } from './address.ts';
import {
  type EmbedPayload,
  type ExternalPayload,
  type PicturePayload,
  type ShownRecord,
  shownRecord,
  type VideoPayload,
} from './embed-payload.ts';
import { judgeAccount } from './labels.ts';

/** Gives the media of embeds in display order. A card of a GIF service is the GIF. */
export function shapeMedia(embeds: readonly EmbedPayload[]): MediaSet {
  return toMediaSet(
    embeds.flatMap(({ pictures, video, external }) => [
      ...pictures.map(shapePicture),
      ...(video === null ? [] : [shapeVideo(video)]),
      ...(external !== null && isGif(external) ? [shapeGif(external)] : []),
    ]),
  );
}

/** Gives the card of embeds: the page that is linked, or the record that is shown and no post. */
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

/** The AppView has no mp4 and no duration (Bluesky, section 4). */
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

/** Where the app gets its GIFs; it shows a card of one of them as a moving picture. */
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

/** Gives the card of a record that is no post; null for a post, and where it or its creator is not served. */
function shapeShown(value: unknown, nowMs: number): Card | null {
  const { data: shown } = shownRecord.safeParse(value);
  if (shown === undefined) return null;
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

/** Gives the page of a record on bsky.app; null for kinds that have none. */
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
