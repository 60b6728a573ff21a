import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { Card, Poll } from '../../model/post.ts';
import { known } from '../../platforms/known.ts';
import { shareOf } from '../../platforms/poll-share.ts';
import { isWebUrl, webUrlOrNull } from '../../platforms/text.ts';
import { toIsoTime } from '../../platforms/times.ts';
import type { CardPayload, MediaPayload, PollPayload } from './payload.ts';

export function shapeMedia(items: readonly MediaPayload[]): MediaSet {
  return toMediaSet(items.map(shapeItem));
}

const types: ReadonlyMap<string, Media['type']> = new Map([
  ['image', 'photo'],
  ['video', 'video'],
  ['gifv', 'gif'],
  ['audio', 'audio'],
]);

function shapeItem(item: MediaPayload): Media {
  const { url } = item;
  const type = types.get(item.type) ?? typeOfFile(url);
  const { width = null, height = null } = item.meta?.original ?? {};
  const base = { type, url, width, height, alt: item.description };
  return type === 'photo' ? base : { ...base, ...shapeMoving(item, type) };
}

function shapeMoving({ url, preview_url, meta }: MediaPayload, type: Media['type']) {
  const preview = webUrlOrNull(preview_url);
  const { duration = null, bitrate = null } = meta?.original ?? {};
  return {
    thumbnail_url: preview === url ? null : preview,
    duration: type === 'gif' ? null : duration,
    variants: bitrate === null ? [] : [{ url, content_type: null, bitrate }],
  };
}

/** A server that could not read a file calls it `unknown`; its name may tell more. */
function typeOfFile(url: string): Media['type'] {
  const { pathname } = new URL(url);
  if (/\.(?:mp4|m4v|mov|webm|ogv)$/i.test(pathname)) return 'video';
  if (/\.(?:mp3|m4a|ogg|oga|opus|wav|flac|aac)$/i.test(pathname)) return 'audio';
  return 'photo';
}

/** Returns a poll. The shares of a multiple choice are of the voters, if their number is known. */
export function shapePoll({ expires_at, multiple, ...poll }: PollPayload): Poll {
  const { votes_count: votes, voters_count: voters, options } = poll;
  const base = multiple === true ? (voters ?? votes) : votes;
  return {
    choices: options.map(({ title: label, votes_count: count }) => ({
      label,
      count,
      percentage: shareOf(count, base),
    })),
    total_votes: votes,
    ...known({ total_voters: voters }),
    ends_at: toIsoTime(expires_at),
  };
}

export function shapeCard(card: CardPayload | null): Card | null {
  if (card === null || !isWebUrl(card.url)) return null;
  const { url, title, description, image, image_description: image_alt, provider_name } = card;
  return {
    url,
    title,
    description,
    image_url: webUrlOrNull(image),
    ...known({ image_alt, provider_name, ...authorOf(card) }),
  };
}

/** Newer servers name several authors, who may have accounts; the first one is served. */
function authorOf({ author_name, author_url, authors }: CardPayload) {
  const [first] = authors;
  return {
    author_name: author_name ?? first?.name ?? first?.account?.display_name,
    author_url: webUrlOrNull(author_url ?? first?.url ?? first?.account?.url ?? null),
  };
}
