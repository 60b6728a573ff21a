import { toIsoSeconds } from '../../../core/clock.ts';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { postUrl, profileUrl } from '../../../model/addresses/urls.ts';
import { type Media, toMediaSet } from '../../../model/media.ts';
import type { Card, Status } from '../../../model/post.ts';
import { shapeFacets } from '../../../platforms/bluesky/facets.ts';
import { sensitiveLabels, signedInOnly } from '../../../platforms/bluesky/labels.ts';
import { toLanguage } from '../../../platforms/language.ts';
import { countCodePoints, isWebUrl } from '../../../platforms/text.ts';
import { toCreated } from '../../../platforms/times.ts';
import type { Embed, MediaEmbed, PostRecord, ProfileRecord } from './records.ts';

export interface Owner {
  readonly did: string;
  /** Handle, or the DID if the handle is unknown. */
  readonly name: string;
}

/** Profile record of an account. `none`: the account has no record. `unreadable`: the record is invalid. */
export type Profile = ProfileRecord | 'none' | 'unreadable';

/**
 * Converts a profile to an account. `protected` is true if the account asks to be hidden from logged-out users, or if
 * the profile is unreadable.
 */
export function shapeAccount(owner: Owner, profile: Profile): Account {
  const record = typeof profile === 'string' ? null : profile;
  const isHidden = profile === 'unreadable' || record?.labels.includes(signedInOnly) === true;
  const createdMs = record?.createdAt ?? null;
  return toAccount({
    id: owner.did,
    screen_name: owner.name,
    name: record?.displayName ?? owner.name,
    url: profileUrl('bluesky', owner.name, ''),
    description: record?.description ?? null,
    avatar_url: imageUrl('avatar', owner, record?.avatar ?? null),
    banner_url: imageUrl('banner', owner, record?.banner ?? null),
    website: toWebsite(record?.website ?? null),
    joined: createdMs === null ? null : toIsoSeconds(createdMs),
    protected: isHidden,
    platform: 'bluesky',
  });
}

/** Post record with its key, time and author. `quote`: the quoted post if it is by the same author, else `null`. */
interface ShapeablePost {
  readonly record: PostRecord;
  readonly key: string;
  readonly createdMs: number;
  readonly author: Account;
  readonly quote: Status | null;
}

/** Converts a record to a post. Counts, such as `likes`, are `null` because repositories do not contain counts. */
export function shapePost({ record, key, createdMs, author, quote }: ShapeablePost): Status {
  const owner = { did: author.id, name: author.screen_name };
  const card = cardOf(record.embed, owner);
  const quotedCard = quote === null ? quoteCard(record.embed) : null;
  return {
    type: 'status',
    id: key,
    url: urlOfPost(owner.name, key),
    // A post has one card. If the card is a web page, the address of the quoted post is added to the text.
    ...toText(record, card === null ? null : quotedCard),
    ...toCreated(createdMs),
    author,
    lang: toLanguage(record.langs[0]),
    replies: null,
    reposts: null,
    likes: null,
    quotes: null,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: record.labels.some((label) => sensitiveLabels.has(label)),
    content_warning: null,
    replying_to: toReplyingTo(record, owner),
    quote,
    reposted_by: null,
    media: toMediaSet(mediaOf(record.embed, owner)),
    poll: null,
    article: null,
    card: card ?? quotedCard,
    community_note: null,
    context: null,
    platform: 'bluesky',
  };
}

export const quotedBy = (embed: Embed | null) =>
  embed !== null && 'record' in embed ? embed.record : null;

function toText(
  { text, facets }: PostRecord,
  quoted: Card | null,
): Pick<Status, 'text' | 'facets'> {
  const own = shapeFacets(text, facets);
  if (quoted === null) return { text, facets: own };
  const start = countCodePoints(text) + 2;
  const end = start + quoted.url.length; // URLs are ASCII
  const facet = { type: 'link', start, end, url: quoted.url } as const;
  return { text: `${text}\n\n${quoted.url}`, facets: [...own, facet] };
}

const urlOfPost = (name: string, key: string): string =>
  postUrl({ platform: 'bluesky', handle: name, id: key }, '');

function toReplyingTo({ reply }: PostRecord, owner: Owner): Status['replying_to'] {
  const parent = reply?.parent.uri ?? null;
  if (parent === null) return null;
  const name = parent.did === owner.did ? owner.name : parent.did;
  return { screen_name: name, status: parent.key, url: urlOfPost(name, parent.key) };
}

function mediaOf(embed: Embed | null, owner: Owner): readonly Media[] {
  const media = withoutQuote(embed);
  switch (media?.$type) {
    case undefined:
    case 'app.bsky.embed.external':
      return [];
    case 'app.bsky.embed.images':
      return media.images.map((picture) => toPhoto(picture, owner));
    case 'app.bsky.embed.gallery':
      return media.items.map((picture) => toPhoto(picture, owner));
    case 'app.bsky.embed.video':
      return [toVideo(media, owner)];
  }
}

function withoutQuote(embed: Embed | null): MediaEmbed | null {
  if (embed === null || embed.$type === 'app.bsky.embed.record') return null;
  return embed.$type === 'app.bsky.embed.recordWithMedia' ? embed.media : embed;
}

type Picture = Extract<MediaEmbed, { $type: 'app.bsky.embed.images' }>['images'][number];
type Video = Extract<MediaEmbed, { $type: 'app.bsky.embed.video' }>;

function toPhoto({ image, alt, aspectRatio }: Picture, owner: Owner): Media {
  return { type: 'photo', url: cdn('feed_fullsize', owner, image), ...toSize(aspectRatio), alt };
}

function toVideo({ video, alt, aspectRatio }: Video, { did }: Owner): Media {
  const folder = `https://video.bsky.app/watch/${encodeURIComponent(did)}/${video}`;
  const url = `${folder}/playlist.m3u8`;
  return {
    type: 'video',
    url,
    ...toSize(aspectRatio),
    alt,
    thumbnail_url: `${folder}/thumbnail.jpg`,
    duration: null,
    variants: [{ url, content_type: 'application/x-mpegURL', bitrate: null }],
  };
}

const minPixels = 64; // smaller sizes are a ratio, such as 16 to 9, which some clients write

function toSize(ratio: Picture['aspectRatio']): Pick<Media, 'width' | 'height'> {
  const isSize = ratio !== null && Math.min(ratio.width, ratio.height) >= minPixels;
  return isSize ? { width: ratio.width, height: ratio.height } : { width: null, height: null };
}

function cardOf(embed: Embed | null, owner: Owner): Card | null {
  const media = withoutQuote(embed);
  if (media?.$type !== 'app.bsky.embed.external' || !isWebUrl(media.external.uri)) return null;
  const { uri, title, description, thumb } = media.external;
  const image = imageUrl('feed_thumbnail', owner, thumb);
  return { url: uri, title: title ?? '', description, image_url: image };
}

/** Returns a link card for a quoted record; `null` without a quoted record, or if the record's web page is unknown. */
function quoteCard(embed: Embed | null): Card | null {
  const address = quotedBy(embed)?.uri ?? null;
  const page = address === null ? undefined : pages.get(address.collection);
  if (address === null || page === undefined) return null;
  const url = `${profileUrl('bluesky', address.did, '')}/${page.folder}/${address.key}`;
  return { url, title: page.title, description: null, image_url: null };
}

/**
 * Web pages of the records that a post can quote, by collection name. `folder`: path segment in the
 * URL of the web page. `title`: title of the link card.
 */
const pages: ReadonlyMap<string, { readonly folder: string; readonly title: string }> = new Map([
  ['app.bsky.feed.post', { folder: 'post', title: 'Quoted post' }],
  ['app.bsky.feed.generator', { folder: 'feed', title: 'Feed' }],
  ['app.bsky.graph.list', { folder: 'lists', title: 'List' }],
]);

const imageUrl = (preset: string, owner: Owner, cid: string | null): string | null =>
  cid === null ? null : cdn(preset, owner, cid);

/** Returns the URL of an image on Bluesky's CDN. `preset`: image size, such as `avatar`. `cid`: CID of the image. */
const cdn = (preset: string, { did }: Owner, cid: string): string =>
  `https://cdn.bsky.app/img/${preset}/plain/${did}/${cid}@jpeg`;
