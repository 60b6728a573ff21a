import { toIsoSeconds } from '../../../core/clock.ts';
import { toMediaSet } from '../../../model/media.ts';
import type { Status } from '../../../model/post.ts';
import { profileUrl } from '../../../model/reference.ts';
import { toRichText } from '../../../platforms/html-text.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { toCreated } from '../../../platforms/times.ts';
import type { ExportedPost, ExportedRepost } from '../export-source.ts';
import type { Owner } from './actor.ts';
import { shapeMedia, shapePoll } from './attachments.ts';
import { createNaming, parseNoteAddress } from './identity.ts';
import type { ActivityPayload, AnnouncePayload, NotePayload } from './payload.ts';

/** A post with how many of its files have no address. */
export interface ShapedPost {
  readonly item: ExportedPost;
  readonly unplaced: number;
}

/** Makes the post of a `Create`, or says in a sentence why there is none. */
export function shapePost(
  { object: note, published }: Extract<ActivityPayload, { type: 'Create' }>,
  owner: Owner,
): ShapedPost | string {
  const address = parseNoteAddress(note.id) ?? parseNoteAddress(note.url ?? '');
  if (address === null) return 'Its id is no address of a post of Mastodon.';
  const createdMs = note.published ?? published;
  if (createdMs === null) return 'It has no time.';
  const media = note.attachment.map((item) => shapeMedia(item, owner.host));
  const shown = media.filter((item) => item !== null);
  const replyingTo = toReplyingTo(note, owner);
  const post: Status = {
    type: 'status',
    id: address.id,
    url: urlOf(note, address.id, owner),
    ...toRichText(note.content ?? '', { nameMention: createNaming(note.tag) }),
    ...toCreated(createdMs),
    ...(note.updated !== null && { edited_at: toIsoSeconds(note.updated) }),
    author: owner.account,
    lang: languageOf(note),
    ...countsOf(note),
    source: null,
    possibly_sensitive: note.sensitive === true && note.attachment.length > 0,
    content_warning: note.summary?.trim() || null,
    replying_to: replyingTo,
    quote: null,
    reposted_by: null,
    media: toMediaSet(shown),
    poll: shapePoll(note),
    article: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'mastodon',
  };
  const parentId = replyingTo?.status ?? null;
  const item = { kind: 'post', post, parentId, created: createdMs / 1000 } as const;
  return { item, unplaced: media.length - shown.length };
}

/** Makes the repost of an `Announce`, or says in a sentence why there is none. */
export function shapeRepost(
  { object, published }: AnnouncePayload,
  owner: Owner,
): ExportedRepost | string {
  const address = parseNoteAddress(object);
  const postHandle = address === null ? null : handleOf(object, owner);
  if (address === null || postHandle === null) return 'What it boosts has no address of Mastodon.';
  if (published === null) return 'It has no time.';
  const handle = nameOf(owner);
  return { kind: 'repost', handle, postHandle, postId: address.id, created: published / 1000 };
}

function nameOf({ account }: Owner): string {
  return account.screen_name.toLowerCase();
}

function urlOf({ url }: NotePayload, id: string, { account }: Owner): string {
  if (url !== null && isWebUrl(url)) return url;
  return `${profileUrl('mastodon', account.screen_name, '')}/${id}`;
}

/** The text stands under its language. */
function languageOf({ contentMap }: NotePayload): string | null {
  const [language] = Object.keys(contentMap ?? {});
  return language === undefined || language === 'und' ? null : language;
}

function countsOf({ likes, shares }: NotePayload) {
  return { replies: null, reposts: shares, likes, quotes: null, bookmarks: null, views: null };
}

/** What is answered may be on a server of other software: then its address is all that is known. */
function toReplyingTo({ inReplyTo }: NotePayload, owner: Owner): Status['replying_to'] {
  if (inReplyTo === null) return null;
  const url = isWebUrl(inReplyTo) ? inReplyTo : null;
  const address = parseNoteAddress(inReplyTo);
  if (address === null) return { screen_name: null, status: null, url };
  return { screen_name: handleOf(inReplyTo, owner), status: address.id, url };
}

/** Gives who wrote the post at an address; null where the address does not tell. */
function handleOf(address: string, owner: Owner): string | null {
  if (address.startsWith(`${owner.address}/statuses/`)) return nameOf(owner);
  return parseNoteAddress(address)?.handle ?? null;
}
