import * as z from 'zod';
import { toIsoSeconds } from '../../../lib/clock.ts';
import { parseFediversePost } from '../../../model/addresses/address.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { toMediaSet } from '../../../model/media.ts';
import type { Card, Status } from '../../../model/post.ts';
import {
  findQuote,
  languageOf,
  namesOfTags,
  readText,
  shapeMedia,
  shapePoll,
} from '../../../normalize/activitypub/content.ts';
import {
  addressed,
  idOf,
  isPublic,
  type NotePayload,
  namesRecipients,
  note as notePayload,
  timeMs,
} from '../../../normalize/activitypub/wire.ts';
import { findLeftOut, nameLeftOut, omitNull } from '../../../normalize/fields.ts';
import { isCut } from '../../../normalize/lenient.ts';
import { findTagsBeside } from '../../../normalize/mastodon/text.ts';
import { isWebUrl } from '../../../normalize/text.ts';
import type { RichText } from '../../../normalize/text-writer.ts';
import { toCreated } from '../../../normalize/times.ts';
import type { ExportFile, ExportFiles } from '../export-source.ts';
import {
  type ExportedPost,
  type ExportedRepost,
  type ExportItem,
  skipRecord,
} from '../export-source.ts';
import { readRecords, readRows } from '../records.ts';
import { findAuthor, findOwnQuote, handleOf, nameOf, type Owner, referToFile } from './actor.ts';

/**
 * Exports of Mastodon, Akkoma and Pleroma: `actor.json` contains the account, `outbox.json` its
 * posts (`Create`) and boosts (`Announce`), also non-public ones. Sources:
 * https://docs.joinmastodon.org/spec/activitypub/ and Mastodon's `app/services/backup_service.rb`
 */
const dated = { ...addressed, published: timeMs };

export const activityPayload = z.discriminatedUnion('type', [
  z.object({ type: z.literal('Create'), ...dated, object: notePayload }),
  z.object({ type: z.literal('Announce'), ...dated, object: idOf }),
]);

type ActivityPayload = z.output<typeof activityPayload>;

interface OutboxOptions {
  readonly read: ExportFiles['read'];
  /** Reads the file for the second pass, which only outboxes with quotes of own posts need. */
  readonly readAgain: ExportFiles['read'];
  readonly owner: Owner;
}

const start = /"orderedItems"\s*:\s*\[/;

/** Yields the posts and boosts of an outbox in its order; quotes of its own posts come last. */
export async function* readOutbox(
  outbox: ExportFile,
  { read, readAgain, owner }: OutboxOptions,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const quotes = new WaitingQuotes(owner);
  let number = 0;
  for await (const records of readRecords([outbox], { schema: activityPayload, start, read })) {
    yield records.flatMap((record) => {
      number += 1;
      if (record.kind === 'skipped') return [record];
      const item = shape(record.row, owner, `${outbox.name}, record ${number}`);
      const isPost = item.kind === 'post' && record.row.type === 'Create';
      return isPost && quotes.add(record.row) ? [] : [item];
    });
  }
  if (quotes.isEmpty) return;
  for await (const row of readRows([outbox], { schema: activityPayload, start, read: readAgain })) {
    if (row.type === 'Create' && !isHidden(row)) quotes.keep(row);
  }
  yield* quotes.shapeAll();
}

function shape(row: ActivityPayload, owner: Owner, location: string): ExportItem {
  if (isHidden(row)) return { ...skipRecord(location, 'It is not public.'), cause: 'private' };
  const shaped = row.type === 'Announce' ? shapeRepost(row, owner) : shapePost(row, owner);
  return typeof shaped === 'string' ? skipRecord(location, shaped) : shaped;
}

function isHidden(row: ActivityPayload): boolean {
  const naming = (row.type === 'Create' ? [row, row.object] : [row]).filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}

type Create = Activity<'Create'>;

const maxLength = 32 * 2 ** 20;

const groupLength = 100;

/** Posts that wait for a second pass to read the posts of the same outbox that they quote. */
class WaitingQuotes {
  readonly #owner: Owner;
  readonly #waiting: Create[] = [];
  readonly #quoted = new Map<string, Status | null>();
  #length = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a post. Returns `false` if it quotes no post of the outbox or too many posts wait. */
  add(row: Create): boolean {
    const id = findOwnQuote(row.object, this.#owner);
    if (id === null || !this.#takes(row)) return false;
    this.#waiting.push(row);
    this.#quoted.set(id, null);
    return true;
  }

  /** Keeps a public post that a waiting post quotes. Without room for it, it stays a link. */
  keep(row: Create): void {
    const id = idOfNote(row.object);
    if (id === null || !this.#quoted.has(id) || !this.#takes(row)) return;
    const shaped = shapePost(row, this.#owner);
    if (typeof shaped !== 'string' && shaped.post.type === 'status') {
      this.#quoted.set(id, shaped.post);
    }
  }

  *shapeAll(): Generator<readonly ExportItem[]> {
    for (let from = 0; from < this.#waiting.length; from += groupLength) {
      const rows = this.#waiting.slice(from, from + groupLength);
      yield rows.flatMap((row) => {
        const id = findOwnQuote(row.object, this.#owner);
        const shaped = shapePost(row, this.#owner, this.#quoted.get(id ?? '') ?? null);
        return typeof shaped === 'string' ? [] : [shaped];
      });
    }
  }

  #takes(row: Create): boolean {
    const { length } = JSON.stringify(row);
    if (this.#length + length > maxLength) return false;
    this.#length += length;
    return true;
  }
}

type Activity<Type> = Extract<ActivityPayload, { type: Type }>;

const idOfNote = ({ id, url }: NotePayload): string | null =>
  (parseFediversePost(id) ?? parseFediversePost(url ?? ''))?.id ?? null;

function shapePost(
  { object: note, published }: Activity<'Create'>,
  owner: Owner,
  quote: Status | null = null,
): ExportedPost | string {
  const id = idOfNote(note);
  if (id === null) return 'Its id is not the address of a Mastodon post.';
  const createdMs = note.published ?? published;
  if (createdMs === null) return 'It has no date.';
  const files = { host: owner.host, handle: nameOf(owner) };
  const media = note.attachment.flatMap((item) => {
    const file = referToFile(item.url, files);
    return file === null ? [] : [{ file, shown: shapeMedia(item, file.url) }];
  });
  const replyingTo = toReplyingTo(note, owner);
  const text = readText(note, { showsQuote: quote !== null });
  const post: Status = {
    type: 'status',
    id,
    url: urlOf(note, id, owner),
    ...text,
    ...omitNull({ tags: findTagsBeside(namesOfTags(note), text) }),
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
    source: note.generator?.name ?? null,
    possibly_sensitive: note.sensitive === true && note.attachment.length > 0,
    content_warning: note.summary?.trim() || null,
    replying_to: replyingTo,
    quote,
    reposted_by: null,
    media: toMediaSet(media.map(({ shown }) => shown)),
    poll: shapePoll(note),
    article: null,
    card: quote === null ? shapeQuoteCard(note, text) : null,
    community_note: null,
    context: null,
    platform: 'mastodon',
  };
  const parentId = replyingTo?.status ?? null;
  const created = createdMs / 1000;
  return {
    kind: 'post',
    post: nameLeftOut(post, leftOutOf(note)),
    parentId,
    created,
    media: media.map(({ file }) => file),
  };
}

function leftOutOf({ content, attachment, oneOf, anyOf }: NotePayload): readonly string[] {
  const lists = { media: [attachment], poll: [oneOf ?? anyOf ?? undefined] };
  return [...(isCut(content) ? ['text'] : []), ...findLeftOut(lists)];
}

function shapeRepost(
  { object, published, to, cc }: Activity<'Announce'>,
  owner: Owner,
): ExportedRepost | string {
  const postId = parseFediversePost(object)?.id;
  if (postId === undefined) return 'The boosted post has no Mastodon address.';
  const postHandle = handleOf(object, owner) ?? findAuthor(object, [...to, ...cc], owner);
  if (postHandle === null) return 'The author of the boosted post is unknown.';
  if (published === null) return 'It has no date.';
  return { kind: 'repost', handle: nameOf(owner), postHandle, postId, created: published / 1000 };
}

function urlOf({ id: address, url }: NotePayload, id: string, { account }: Owner): string {
  if (url !== null && parseFediversePost(url)?.id === id) return url;
  // `https://host/objects/{uuid}` is a page too. `https://host/users/ada/statuses/1` has a shorter
  // form.
  if (parseFediversePost(address)?.handle === null) return address;
  return `${profileUrl('mastodon', account.screen_name, '')}/${id}`;
}

function toReplyingTo(note: NotePayload, owner: Owner): Status['replying_to'] {
  const { inReplyTo, to } = note;
  if (inReplyTo === null) return null;
  const url = isWebUrl(inReplyTo) ? inReplyTo : null;
  const status = parseFediversePost(inReplyTo)?.id ?? null;
  if (status === null) return { screen_name: null, status, url };
  const author = handleOf(inReplyTo, owner) ?? findAuthor(inReplyTo, to, owner);
  // Mentions are recipients too, so only the own account is certain.
  const isKnown = handleOf(inReplyTo, owner) !== null || author === nameOf(owner);
  return { screen_name: isKnown ? author : null, status, url };
}

function shapeQuoteCard(note: NotePayload, { facets }: RichText): Card | null {
  const url = findQuote(note);
  if (url === null || !isWebUrl(url)) return null;
  const quoted = parseFediversePost(url)?.id;
  const isLinked = facets.some(
    (facet) =>
      facet.type === 'link' &&
      (facet.url === url ||
        (quoted !== undefined && parseFediversePost(facet.url ?? '')?.id === quoted)),
  );
  const isShown = isLinked || (note.content ?? '').includes('quote-inline');
  return isShown ? null : { url, title: 'Quoted post', description: null, image_url: null };
}
