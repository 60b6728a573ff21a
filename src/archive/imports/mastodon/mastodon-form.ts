import type {
  ExportForm,
  ExportHints,
  ExportItem,
  ExportSource,
  SkippedRecord,
} from '../export-source.ts';
import {
  createFileCount,
  type ExportFile,
  type ExportFiles,
  type FileCount,
} from '../files/export-files.ts';
import { openExportFiles } from '../files/open-files.ts';
import { type ExportRecord, readRecords } from '../records.ts';
import { skip, skipPrivate } from '../skip.ts';
import { type Owner, readOwner } from './actor.ts';
import { readConnections } from './connections.ts';
import { type ActivityPayload, activity, isPublic, namesRecipients } from './payload.ts';
import { shapePost, shapeRepost } from './shape.ts';

/**
 * An account's export from Mastodon (`payload.ts`): the compressed file, or the folder that it unpacks
 * to, beside which the lists of follows may be laid. Only what was addressed to everybody is imported.
 */
export const mastodonForm: ExportForm = {
  name: 'mastodon',
  takesHandle: true,
  open: async (path, hints) => {
    const files = await openExportFiles(path);
    if (files === null) return null;
    const parts = findParts(files.files);
    if (parts !== null) return openSource(files, parts, hints ?? {});
    await files.close();
    return null;
  },
};

/** The files that are read. Likes and bookmarks are nobody else's business. */
const names = {
  actor: 'actor.json',
  outbox: 'outbox.json',
  following: 'following_accounts.csv',
  followers: 'followers.csv',
} as const;

interface Parts {
  readonly actor: ExportFile | undefined;
  readonly outbox: ExportFile;
  readonly following: ExportFile | undefined;
  readonly followers: ExportFile | undefined;
}

/** Finds the files, wherever their folder lies; null where there is no outbox. */
function findParts(files: readonly ExportFile[]): Parts | null {
  const outbox = files.find(({ name }) => /(?:^|\/)outbox\.json$/.test(name));
  if (outbox === undefined) return null;
  const folder = outbox.name.slice(0, -names.outbox.length);
  const find = (name: string) => files.find((file) => file.name === `${folder}${name}`);
  return {
    outbox,
    actor: find(names.actor),
    following: find(names.following),
    followers: find(names.followers),
  };
}

function openSource(files: ExportFiles, parts: Parts, hints: ExportHints): ExportSource {
  const count = createFileCount(files);
  const { outbox, following, followers } = parts;
  const counted = [outbox, following, followers];
  return {
    title: 'Mastodon export',
    totalBytes: counted.reduce((sum, file) => sum + (file?.bytes ?? 0), 0),
    get bytesRead() {
      return count.bytes;
    },
    groups: () => readGroups({ files, parts, count, hints }),
    close: files.close,
  };
}

interface Opened {
  readonly files: ExportFiles;
  readonly parts: Parts;
  readonly count: FileCount;
  readonly hints: ExportHints;
}

async function* readGroups(opened: Opened): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const { files, parts, hints } = opened;
  const { actor } = parts;
  if (actor === undefined) {
    throw new Error(
      `There is no ${names.actor} beside ${parts.outbox.name}, so whose it is is not known. The export may be cut off.`,
    );
  }
  const owner = await readOwner({ name: actor.name, chunks: files.read(actor) }, hints.handle);
  yield [{ kind: 'account', account: owner.account }];
  yield* readOutbox(opened, owner);
  const lists = { count: opened.count, domain: domainOf(owner) };
  const own = owner.account.screen_name.toLowerCase();
  yield* readList(lists, parts.following, (other) => ({ follower: own, followed: other }));
  yield* readList(lists, parts.followers, (other) => ({ follower: other, followed: own }));
}

async function* readOutbox(
  { parts, count }: Opened,
  owner: Owner,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const reading = { schema: activity, start: /"orderedItems"\s*:\s*\[/, read: count.read };
  let number = 0;
  let unplaced = 0;
  const toItem = (record: ExportRecord<ActivityPayload>): ExportItem => {
    number += 1;
    if (record.kind === 'skipped') return record;
    const shaped = shape(record.row, owner, `${parts.outbox.name}, record ${number}`);
    unplaced += shaped.unplaced;
    return shaped.item;
  };
  for await (const records of readRecords([parts.outbox], reading)) yield records.map(toItem);
  if (unplaced > 0) yield [skip(parts.outbox.name, tellUnplaced(unplaced))];
}

interface Shaped {
  readonly item: ExportItem;
  readonly unplaced: number;
}

function shape(row: ActivityPayload, owner: Owner, where: string): Shaped {
  if (isHidden(row)) return { item: hidden(where), unplaced: 0 };
  if (row.type === 'Announce') return { item: orSkip(shapeRepost(row, owner), where), unplaced: 0 };
  const post = shapePost(row, owner);
  return typeof post === 'string' ? { item: skip(where, post), unplaced: 0 } : post;
}

function orSkip(item: ExportItem | string, where: string): ExportItem {
  return typeof item === 'string' ? skip(where, item) : item;
}

/** Both the activity and the post name recipients, and one that everybody may not see is enough. */
function isHidden(row: ActivityPayload): boolean {
  const all = row.type === 'Create' ? [row, row.object] : [row];
  const naming = all.filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}

function hidden(where: string): SkippedRecord {
  return skipPrivate(where, 'It was not addressed to everybody.');
}

function tellUnplaced(count: number): string {
  const files =
    count === 1 ? 'One picture, video or sound is' : `${count} pictures, videos and sounds are`;
  return `${files} left out of their posts, because the export does not tell on which server they are.`;
}

function domainOf({ account }: Owner): string {
  return account.screen_name.slice(account.screen_name.lastIndexOf('@') + 1);
}

async function* readList(
  { count, domain }: { readonly count: FileCount; readonly domain: string },
  file: ExportFile | undefined,
  toPair: (handle: string) => { readonly follower: string; readonly followed: string },
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  if (file === undefined) return;
  const toFollow = (handle: string) => ({ kind: 'follow', ...toPair(handle) }) as const;
  yield* readConnections({ name: file.name, chunks: count.read(file), domain, toFollow });
}
