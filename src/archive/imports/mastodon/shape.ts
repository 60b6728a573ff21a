import { toIsoSeconds } from '../../../core/clock.ts';
import { parseFediversePost } from '../../../model/addresses/address.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { type Media, toMediaSet } from '../../../model/media.ts';
import type { Poll, Status } from '../../../model/post.ts';
import { toRichText } from '../../../platforms/html-text.ts';
import { toLanguage } from '../../../platforms/language.ts';
import { omitNull } from '../../../platforms/omit-null.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { toCreated, toIsoTime } from '../../../platforms/times.ts';
import type { ExportedPost, ExportedRepost } from '../export-source.ts';
import { createMentionNamer, type Owner } from './actor.ts';
import { referToFile } from './media.ts';
import type { ActivityPayload, NotePayload } from './payload.ts';

type Activity<Type> = Extract<ActivityPayload, { type: Type }>;

/** Converts a `Create` activity to a post. Returns an error message if the conversion fails. */
export function shapePost(
  { object: note, published }: Activity<'Create'>,
  owner: Owner,
): ExportedPost | string {
  const address = parseFediversePost(note.id) ?? parseFediversePost(note.url ?? '');
  if (address === null) return 'Its id is not the address of a Mastodon post.';
  const createdMs = note.published ?? published;
  if (createdMs === null) return 'It has no date.';
  const files = { host: owner.host, handle: nameOf(owner) };
  const media = note.attachment.flatMap((item) => {
    const file = referToFile(item.url, files);
    return file === null ? [] : [{ file, shown: shapeMedia(item, file.url) }];
  });
  const replyingTo = toReplyingTo(note, owner);
  const post: Status = {
    type: 'status',
    id: address.id,
    url: urlOf(note, address.id, owner),
    ...toRichText(note.content ?? '', { nameMention: createMentionNamer(note.tag) }),
    ...toCreated(createdMs),
    ...(note.updated !== null && { edited_at: toIsoSeconds(note.updated) }),
    author: owner.account,
    lang: languageOf(note),
    replies: null,
    reposts: note.shares,
    likes: note.likes,
    quotes: null,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: note.sensitive === true && note.attachment.length > 0,
    content_warning: note.summary?.trim() || null,
    replying_to: replyingTo,
    quote: null,
    reposted_by: null,
    media: toMediaSet(media.map(({ shown }) => shown)),
    poll: shapePoll(note),
    article: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'mastodon',
  };
  const parentId = replyingTo?.status ?? null;
  const created = createdMs / 1000;
  return { kind: 'post', post, parentId, created, media: media.map(({ file }) => file) };
}

/** Converts an `Announce` activity (a boost) to a repost. Returns an error message if the conversion fails. */
export function shapeRepost(
  { object, published }: Activity<'Announce'>,
  owner: Owner,
): ExportedRepost | string {
  const address = parseFediversePost(object);
  const postHandle = address === null ? null : handleOf(object, owner);
  if (address === null || postHandle === null) return 'The boosted post has no Mastodon address.';
  if (published === null) return 'It has no date.';
  const handle = nameOf(owner);
  return { kind: 'repost', handle, postHandle, postId: address.id, created: published / 1000 };
}

const nameOf = ({ account }: Owner): string => account.screen_name.toLowerCase();

function urlOf({ url }: NotePayload, id: string, { account }: Owner): string {
  if (url !== null && isWebUrl(url)) return url;
  return `${profileUrl('mastodon', account.screen_name, '')}/${id}`;
}

/**
 * Returns the language of a post: the first key of `contentMap`; `null` if there is none, or if it is `und`
 * (undetermined).
 */
function languageOf({ contentMap }: NotePayload): string | null {
  const [language] = Object.keys(contentMap ?? {});
  return language === 'und' ? null : toLanguage(language);
}

/**
 * Returns the post to which `inReplyTo` refers; `null` without `inReplyTo`. If the URL is not the
 * URL of a Mastodon post, `screen_name` and `status` of the returned object are `null`.
 */
function toReplyingTo({ inReplyTo }: NotePayload, owner: Owner): Status['replying_to'] {
  if (inReplyTo === null) return null;
  const url = isWebUrl(inReplyTo) ? inReplyTo : null;
  const address = parseFediversePost(inReplyTo);
  if (address === null) return { screen_name: null, status: null, url };
  return { screen_name: handleOf(inReplyTo, owner), status: address.id, url };
}

/** Returns the handle of a post's author from the post's URL; `null` if the URL contains no handle. */
function handleOf(address: string, owner: Owner): string | null {
  if (address.startsWith(`${owner.address}/statuses/`)) return nameOf(owner);
  return parseFediversePost(address)?.handle ?? null;
}

function shapeMedia(item: NotePayload['attachment'][number], url: string): Media {
  const { width, height } = item;
  const [kind] = (item.mediaType ?? '').split('/');
  const type = kind === 'video' || kind === 'audio' ? kind : 'photo';
  return { type, url, width, height, alt: item.name ?? item.summary };
}

function shapePoll({ oneOf, anyOf, endTime, closed, votersCount }: NotePayload): Poll | null {
  const choices = oneOf ?? anyOf;
  if (choices === null) return null;
  const votes = choices.reduce((sum, { replies }) => sum + (replies ?? 0), 0);
  const base = anyOf === null ? votes : (votersCount ?? votes);
  const toShare = (count: number) => (base === 0 ? 0 : Math.round((1000 * count) / base) / 10);
  return {
    choices: choices.map(({ name: label, replies: count }) => ({
      label,
      count,
      percentage: count === null ? null : toShare(count),
    })),
    total_votes: choices.some(({ replies }) => replies === null) ? null : votes,
    ...omitNull({ total_voters: votersCount }),
    ends_at: toIsoTime(endTime ?? closed),
  };
}
