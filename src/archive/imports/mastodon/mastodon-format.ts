import * as z from 'zod';
import { toIsoSeconds } from '../../../lib/clock.ts';
import { parseFediversePost } from '../../../model/addresses/address.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { toMediaSet } from '../../../model/media.ts';
import type { Card, Status } from '../../../model/post.ts';
import { parseHandle } from '../../../model/reference.ts';
import {
  findQuote,
  languageOf,
  leftOutOf,
  readText,
  shapeMedia,
  shapeNote,
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
import { nameLeftOut } from '../../../normalize/fields.ts';
import { isWebUrl } from '../../../normalize/text.ts';
import type { RichText } from '../../../normalize/text-writer.ts';
import {
  createExportSource,
  type ExportedRepost,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportItem,
  type ExportSource,
  folderOf,
  skipRecord,
  toPostItem,
} from '../export-source.ts';
import { type LeftOutRules, readLeftOut } from '../left-out.ts';
import { readCsvRows } from '../ndjson/lines.ts';
import { convertRecords, readRecords, readRows } from '../records.ts';
import {
  findAuthor,
  findOwnQuote,
  handleOf,
  mediaNameOf,
  nameOf,
  type Owner,
  readOwner,
  referToFile,
  referToPictures,
} from './actor.ts';
import { openStatuses } from './statuses.ts';

/** Import format of Mastodon exports (archive file or folder) and files of backup tools. */
export const mastodonFormat: ExportFormat = {
  name: 'mastodon',
  takesHandle: true,
  open: async (files, { handle }) => {
    const outbox = files.files.find(({ name }) => /(?:^|\/)outbox\.json$/.test(name));
    return outbox === undefined ? openStatuses(files, handle) : openOutbox(files, outbox, handle);
  },
};

function openOutbox(
  files: ExportFiles,
  outbox: ExportFile,
  handle: string | undefined,
): ExportSource {
  const folder = folderOf(outbox.name);
  const find = (name: string) => files.files.find((file) => file.name === `${folder}${name}`);
  const actor = find('actor.json');
  return createExportSource(files, (count) => {
    const counted = count(outbox);
    const lists = ['following_accounts.csv', 'followers.csv'].map(find);
    const [following, followers] = lists.map((file) => file && count(file));
    return {
      title: 'Mastodon export',
      mediaNameOf: (file) => mediaNameOf(file, folder),
      groups: async function* () {
        if (actor === undefined) {
          throw new Error(
            `There is no actor.json beside ${outbox.name}, so the account is unknown. The export may be incomplete. Download it again.`,
          );
        }
        const owner = await readOwner(actor, handle);
        const { account } = owner;
        yield [{ kind: 'account', account, media: referToPictures(account) }];
        yield* readOutbox(owner, { outbox: counted, again: outbox });
        const own = nameOf(owner);
        yield* readList(following, own, (other) => ({ follower: own, followed: other }));
        yield* readList(followers, own, (other) => ({ follower: other, followed: own }));
        yield* readLeftOut(files, { folder, imported: [outbox, actor, ...lists], rules });
      },
    };
  });
}

/**
 * Reads account handles after a heading. Handles without a host are on the host of `own`.
 * Source: https://docs.joinmastodon.org/user/moving/#export
 */
async function* readList(
  file: ExportFile | undefined,
  own: string,
  toPair: (handle: string) => { readonly follower: string; readonly followed: string },
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  if (file === undefined) return;
  const domain = own.slice(own.lastIndexOf('@'));
  for await (const rows of readCsvRows(file.read())) {
    const cells = rows.map(({ number, cells }) => ({ number, name: toName(cells?.[0] ?? '?') }));
    const named = cells.filter(({ number, name }) => name !== '' && !isHeading(number, name));
    yield named.map(({ number, name }): ExportItem => {
      const account = parseHandle(name.includes('@') ? name : `${name}${domain}`);
      if (account?.platform === 'mastodon') return { kind: 'follow', ...toPair(account.handle) };
      return skipRecord(`${file.name}, line ${number}`, 'It does not start with a handle.');
    });
  }
}

const toName = (cell: string): string => cell.trim().replace(/^@/, '');

const isHeading = (number: number, name: string): boolean =>
  number === 1 && /^account address$/i.test(name);

const rules: LeftOutRules['rules'] = [
  [/^likes\.json$/, 'likes are private'],
  [/^bookmarks\.(?:json|csv)$/, 'bookmarks are private'],
  [/^lists\.csv$/, 'lists are private'],
  [/^blocked_(?:accounts|domains)\.csv$/, 'blocks are private'],
  [/^muted_accounts\.csv$/, 'mutes are private'],
  // Other files are media, whose import has a report of its own.
  [/(?<!\.json|\.csv)$/, null],
];

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

type Activity<Type> = Extract<ActivityPayload, { type: Type }>;
type Create = Activity<'Create'>;

interface OutboxFiles {
  readonly outbox: ExportFile;
  /** The same file for the second pass, which only outboxes with quotes of own posts need. */
  readonly again: ExportFile;
}

const reading = { schema: activityPayload, start: /"orderedItems"\s*:\s*\[/ };

/** Yields the posts and boosts of an outbox in its order; quotes of its own posts come last. */
export async function* readOutbox(
  owner: Owner,
  { outbox, again }: OutboxFiles,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const quotes = createWaitingQuotes(owner);
  for await (const records of readRecords([outbox], reading)) {
    yield convertRecords(records, (row, location) => {
      if (isHidden(row)) return skipRecord(location, 'It is not public.', 'private');
      if (row.type === 'Announce') return shapeRepost(row, owner);
      const post = shapePost(row, owner);
      return typeof post !== 'string' && quotes.add(row) ? [] : post;
    });
  }
  if (quotes.isEmpty()) return;
  for await (const row of readRows([again], reading)) {
    if (row.type === 'Create' && !isHidden(row)) quotes.keep(row);
  }
  yield* quotes.shapeAll();
}

function isHidden(row: ActivityPayload): boolean {
  const naming = (row.type === 'Create' ? [row, row.object] : [row]).filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}

const maxLength = 32 * 2 ** 20;

const groupLength = 100;

/** Creates the posts that wait for a second pass to read the posts of the outbox they quote. */
function createWaitingQuotes(owner: Owner) {
  const waiting: Create[] = [];
  const quoted = new Map<string, Status | null>();
  let length = 0;
  const takes = (row: Create): boolean => {
    const more = JSON.stringify(row).length;
    if (length + more > maxLength) return false;
    length += more;
    return true;
  };
  return {
    isEmpty: () => waiting.length === 0,
    /** Adds a post. Returns `false` if it quotes no post of the outbox or too many posts wait. */
    add: (row: Create): boolean => {
      const id = findOwnQuote(row.object, owner);
      if (id === null || !takes(row)) return false;
      waiting.push(row);
      quoted.set(id, null);
      return true;
    },
    /** Keeps a public post that a waiting post quotes. Without room for it, it stays a link. */
    keep: (row: Create): void => {
      const id = idOfNote(row.object);
      if (id === null || !quoted.has(id) || !takes(row)) return;
      const shaped = shapePost(row, owner);
      if (typeof shaped !== 'string') quoted.set(id, shaped.post);
    },
    *shapeAll(): Generator<readonly ExportItem[]> {
      for (let from = 0; from < waiting.length; from += groupLength) {
        yield waiting.slice(from, from + groupLength).flatMap((row) => {
          const id = findOwnQuote(row.object, owner);
          const shaped = shapePost(row, owner, quoted.get(id ?? '') ?? null);
          return typeof shaped === 'string' ? [] : [shaped];
        });
      }
    },
  };
}

const idOfNote = ({ id, url }: NotePayload): string | null =>
  (parseFediversePost(id) ?? parseFediversePost(url ?? ''))?.id ?? null;

function shapePost(
  { object: note, published }: Activity<'Create'>,
  owner: Owner,
  quote: Status | null = null,
) {
  const id = idOfNote(note);
  if (id === null) return 'Its id is not the address of a Mastodon post.';
  const createdMs = note.published ?? published;
  if (createdMs === null) return 'It has no date.';
  const media = note.attachment.flatMap((item) => {
    const file = referToFile(item.url, owner);
    return file === null ? [] : [{ file, shown: shapeMedia(item, file.url) }];
  });
  const text = readText(note, { showsQuote: quote !== null });
  const post: Status = {
    type: 'status',
    id,
    url: urlOf(note, id, owner),
    ...shapeNote(note, { text, createdMs, author: owner.account, quote }),
    ...(note.updated !== null && { edited_at: toIsoSeconds(note.updated) }),
    lang: languageOf(note),
    possibly_sensitive: note.sensitive === true && note.attachment.length > 0,
    content_warning: note.summary?.trim() || null,
    replying_to: toReplyingTo(note, owner),
    media: toMediaSet(media.map(({ shown }) => shown)),
    card: quote === null ? shapeQuoteCard(note, text) : null,
    platform: 'mastodon',
  };
  return toPostItem(
    nameLeftOut(post, leftOutOf(note)),
    createdMs / 1000,
    media.map(({ file }) => file),
  );
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
