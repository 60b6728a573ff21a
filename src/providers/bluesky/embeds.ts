import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card } from '../../model/post.ts';
import { isWebUrl, webUrlOrNull } from '../../platforms/text.ts';
import { nameOf } from './accounts.ts';
import { judgeAccount } from './labels.ts';
import { blueskyProfileUrl, type EmbedPayload, parseShown, type RecordAddress } from './payload.ts';

type External = NonNullable<EmbedPayload['external']>;
type Picture = EmbedPayload['pictures'][number];
type Video = NonNullable<EmbedPayload['video']>;

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

function shapePicture({ fullsize, alt, aspectRatio }: Picture): Media {
  return { type: 'photo', url: fullsize, ...toSize(aspectRatio), alt };
}

/** The AppView has no mp4 and no duration. */
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

/** Clients write the size in pixels, or a mere ratio such as 16 to 9, which is no size. */
const leastSize = 64;

function toSize(ratio: Picture['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= leastSize;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

/** Hosts of the GIFs in the app, which shows a card of one of them as a moving picture. */
const gifHosts = /^(?:media\.tenor\.com|static\.klipy\.com|(?:[\w-]+\.)?giphy\.com)$/;

function isGif({ uri }: External): boolean {
  return isWebUrl(uri) && gifHosts.test(new URL(uri).hostname);
}

/** The app writes the size into the address, and the author's words after `Alt:`. */
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

function shapePage({ uri, title, description, thumb }: External): Card | null {
  if (!isWebUrl(uri)) return null;
  return { url: uri, title: title ?? '', description, image_url: webUrlOrNull(thumb) };
}

/** Returns the card of a record that is no post; `null` for a post, and if it or its creator is not served. */
function shapeShown(value: unknown, nowMs: number): Card | null {
  const shown = parseShown(value);
  if (shown === null) return null;
  if ([shown, shown.creator].some((each) => judgeAccount(each, nowMs) !== null)) return null;
  const { uri, displayName, name, record, creator, description, avatar } = shown;
  const url = shownUrl(uri, nameOf(creator));
  if (url === null) return null;
  return {
    url,
    title: displayName ?? name ?? record?.name ?? creator.displayName ?? nameOf(creator),
    description: description ?? record?.description ?? creator.description,
    image_url: webUrlOrNull(avatar),
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
