import { mapWithPauses } from '../../lib/scheduling/map.ts';
import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { profileUrl, xCommunityUrl } from '../../model/addresses/urls.ts';
import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card, Community, Poll, Post, Status, Tombstone } from '../../model/post.ts';
import { findLeftOut, nameLeftOut, omitNull } from '../../normalize/fields.ts';
import { toLanguage } from '../../normalize/language.ts';
import { maximums } from '../../normalize/maximums.ts';
import { decodeEntities, isWebUrl } from '../../normalize/text.ts';
import { toCreated, toIsoTime } from '../../normalize/times.ts';
import { unavailabilityOf as reasonOf, toTombstone } from '../../normalize/unavailable.ts';
import { enlargeAvatar, toReplyingTo, xPostUrl } from '../../normalize/x.ts';
import { toMissing } from '../failure.ts';
import { shapeArticle, shapeFacets, shapeLinks } from './article.ts';
import { toPlaceholder, unavailabilityOf } from './unavailable.ts';
import {
  type PostPayload,
  parsePost,
  type StatusPayload,
  type TombstonePayload,
  type UserPayload,
} from './wire.ts';

/** Converts a post and its quoted posts. Returns a `Tombstone` if the author is protected. */
export const shapePost = (row: PostPayload): Post => shapeWithin(row, maximums.quotes);

/** Converts the requested post. Throws ProviderError `missing` if its author is protected. */
export function shapeStatus(row: StatusPayload): Status {
  const post = shapePost(row);
  if (post.type === 'tombstone') throw toMissing(reasonOf(post));
  return post;
}

function shapeWithin(row: PostPayload, quotesLeft: number): Post {
  if (row.type === 'tombstone') return shapeTombstone(row);
  if (row.author.protected !== true) return shapeQuoting(row, quotesLeft);
  return shapeTombstone(toPlaceholder('private', { id: row.id, author: row.author }));
}

function shapeQuoting(row: StatusPayload, quotesLeft: number): Status {
  const status: Status = {
    type: 'status',
    id: row.id,
    url: xPostUrl(row.author.screen_name, row.id),
    text: row.text,
    facets: shapeFacets(row.text, row.raw_text),
    ...toCreated(row.createdMs),
    author: shapeAccount(row.author),
    lang: toLanguage(row.lang),
    replies: row.replies,
    reposts: row.reposts,
    likes: row.likes,
    quotes: row.quotes,
    bookmarks: row.bookmarks,
    views: row.views,
    ...omitNull({ community: shapeCommunity(row) }),
    source: row.source,
    possibly_sensitive: row.possibly_sensitive ?? false,
    replying_to: toReplyingTo(row.replying_to?.screen_name ?? null, parentOf(row)),
    quote: quotesLeft > 0 ? shapeQuote(row.quote, quotesLeft - 1) : null,
    reposted_by: row.reposted_by && shapeAccount(row.reposted_by),
    media: shapeMedia(row),
    poll: shapePoll(row),
    article: row.article && shapeArticle(row.article),
    content_warning: null,
    card: shapeCard(row),
    ...shapeNote(row),
    context: null,
    platform: 'x',
  };
  const isQuoteLost = quotesLeft === 0 && (row.quote ?? null) !== null;
  return nameLeftOut(status, [...leftOutOf(row), ...(isQuoteLost ? ['quote'] : [])]);
}

function shapeNote({ community_note: note }: StatusPayload) {
  if (note === null) return { community_note: null };
  const facets = shapeLinks(note);
  return { community_note: note.text, ...(facets.length > 0 && { community_note_facets: facets }) };
}

function leftOutOf({ raw_text, media, poll, article }: StatusPayload): readonly string[] {
  const renditions = media?.all.flatMap(({ formats, variants }) => [formats, variants]) ?? [];
  const { content = null, media_entities } = article ?? {};
  return findLeftOut({
    facets: [raw_text?.facets],
    media: [media?.all, ...renditions],
    poll: [poll?.choices],
    article: [content?.blocks, content?.entityMap, media_entities],
  });
}

export const parentOf = ({ replying_to, replying_to_status }: StatusPayload): string | null =>
  replying_to?.status ?? replying_to_status;

function shapeQuote(row: unknown, quotesLeft: number): Post | null {
  if (row === undefined || row === null) return null;
  return shapeWithin(parsePost(row) ?? toPlaceholder('unavailable'), quotesLeft);
}

function shapeTombstone(row: TombstonePayload): Tombstone {
  const { id } = row;
  const author = row.reason === 'private' ? null : row.author;
  return toTombstone(unavailabilityOf(row), {
    id,
    url: id === null ? null : xPostUrl(author?.screen_name ?? null, id),
    author: author && shapeAccount(author),
    platform: 'x',
  });
}

function shapeCard({ card }: StatusPayload): Card | null {
  if (card === null || !isWebUrl(card.url)) return null;
  const { url, title, description, domain, image } = card;
  return {
    url,
    title: decodeEntities(title ?? ''),
    description: description && decodeEntities(description),
    image_url: image?.url ?? null,
    ...omitNull({ image_alt: image?.alt, provider_name: domain }),
  };
}

const shapeCommunity = ({ community }: StatusPayload): Community | null =>
  community === null ? null : { ...community, url: xCommunityUrl(community.id) };

const shapePoll = ({ poll }: StatusPayload): Poll | null =>
  poll && {
    ...poll,
    choices: poll.choices.map((one) => ({ ...one, label: decodeEntities(one.label) })),
    ends_at: toIsoTime(poll.ends_at),
  };

function shapeMedia({ media }: StatusPayload): MediaSet {
  const items = media?.all.map(shapeItem) ?? [];
  if (!media?.external) return toMediaSet(items);
  const { url, width, height, thumbnail_url } = media.external;
  const size = { width, height };
  const embedded: Media = { type: 'video', url, ...size, alt: null, thumbnail_url, duration: null };
  return toMediaSet([...items, embedded]);
}

type MediaPayload = NonNullable<StatusPayload['media']>['all'][number];

function shapeItem(item: MediaPayload): Media {
  const { type, url, width, height, altText: alt, thumbnail_url } = item;
  const base = { type, url, width, height, alt };
  if (type === 'photo') return base;
  const duration = type === 'gif' ? null : item.duration;
  return { ...base, thumbnail_url, duration, variants: shapeVariants(item) };
}

const containers = { mp4: 'video/mp4', m3u8: 'application/x-mpegURL', webm: 'video/webm' };
const containerTypes: ReadonlyMap<string, string> = new Map(Object.entries(containers));

function shapeVariants(item: MediaPayload): NonNullable<Media['variants']> {
  if (item.formats.length === 0) return [...item.variants];
  return item.formats.map(({ url, container, bitrate }) => ({
    url,
    content_type: containerTypes.get(container ?? '') ?? null,
    bitrate,
  }));
}

/** Converts listed posts. Omits placeholders, and posts and reposts by protected accounts. */
export async function shapeListed(rows: readonly PostPayload[]): Promise<readonly Status[]> {
  const posts = await mapWithPauses(rows, shapePost);
  return posts
    .filter((post) => post.type === 'status')
    .filter(({ reposted_by }) => reposted_by?.protected !== true);
}

/** Converts an account. Includes only the id, handle and URL of a protected account. */
export function shapeAccount(user: UserPayload): Account {
  const { id, screen_name } = user;
  const url = profileUrl('x', screen_name, '');
  if (user.protected === true) {
    return toAccount({ id, screen_name, name: screen_name, url, protected: true, platform: 'x' });
  }
  return {
    id,
    screen_name,
    name: user.name ?? screen_name,
    url,
    ...shapeBio(user),
    location: user.location,
    avatar_url: enlargeAvatar(user.avatar_url),
    banner_url: user.banner_url,
    website: toWebsite(user.website?.url ?? null, user.website?.display_url),
    followers: user.followers,
    following: user.following,
    statuses: user.statuses,
    media_count: user.media_count,
    likes: user.likes,
    joined: toIsoTime(user.joined),
    protected: false,
    verification: user.verification ?? { verified: false, type: null },
    platform: 'x',
  };
}

function shapeBio({ description, raw_description: raw }: UserPayload) {
  if (description === null || raw === null) return { description };
  const facets = shapeFacets(description, { ...raw, display_text_range: null });
  return { description, ...(facets.length > 0 && { description_facets: facets }) };
}
