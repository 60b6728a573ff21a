import * as z from 'zod';
import { parseUrl } from '../../../lib/http/url.ts';
import type { Account } from '../../../model/account.ts';
import { parseFediverseAccount, parseFediversePost } from '../../../model/addresses/address.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { parseHandle } from '../../../model/reference.ts';
import {
  type ActorPayload,
  handleOfActor,
  parseActor,
  shapeActor,
} from '../../../normalize/activitypub/actor.ts';
import { findQuote } from '../../../normalize/activitypub/content.ts';
import type { NotePayload } from '../../../normalize/activitypub/wire.ts';
import { joinLists } from '../../../normalize/lenient.ts';
import { isWebUrl } from '../../../normalize/text.ts';
import { exportOnly } from '../../media/media-rows.ts';
import { type ExportFile, type MediaReference, readObject } from '../export-source.ts';

export interface Owner {
  /** ActivityPub id (URL) by which posts refer to their author. */
  readonly address: string;
  readonly host: string;
  /** Lower-case handle in the URLs of its server. The real handle can have another domain. */
  readonly localHandle: string;
  readonly account: Account;
}

/** Reads `actor.json`. `handle` overrides its handle. @throws Error if either is invalid */
export async function readOwner(file: ExportFile, handle: string | undefined): Promise<Owner> {
  const actor = await readObject(file, z.looseObject({}));
  const row = actor && parseActor(actor);
  if (row === null || row.preferredUsername === null)
    throw new Error(`${file.name} contains no account. Download it again.`);
  const localName = handleOfActor(row);
  const name = handle ?? localName;
  if (parseHandle(name)?.platform !== 'mastodon') {
    throw new Error(
      handle === undefined
        ? `${file.name} describes ${name}, which is not a valid handle.`
        : `${name} is not a Mastodon handle.`,
    );
  }
  const { hostname: host } = new URL(row.id);
  const account = shapeOwner(row, name);
  return { address: row.id, host, localHandle: localName.toLowerCase(), account };
}

function shapeOwner(row: ActorPayload, handle: string): Account {
  const moved = row.movedTo === null ? [] : [{ name: 'Moved to', value: row.movedTo }];
  const fields = joinLists(
    row.attachment,
    moved.map((field) => ({ type: 'PropertyValue', ...field })),
  );
  return {
    ...shapeActor({ ...row, attachment: fields }, { handle }),
    url: row.url.find(isWebUrl) ?? profileUrl('mastodon', handle, ''),
    // Mastodon exports contain file names here. Exports by other software contain URLs.
    avatar_url: toProfilePictureUrl(row.icon, handle),
    banner_url: toProfilePictureUrl(row.image, handle),
    platform: 'mastodon',
  };
}

export const nameOf = ({ account }: Owner): string => account.screen_name.toLowerCase();

/** Returns the handle of a post's author from its URL; `null` if the URL contains none. */
export function handleOf(address: string, owner: Owner): string | null {
  const handle = parseFediversePost(address)?.handle ?? null;
  const isOwn = handle === owner.localHandle || address.startsWith(`${owner.address}/statuses/`);
  return isOwn ? nameOf(owner) : handle;
}

/**
 * Returns the author of a post whose URL contains no handle, such as `https://host/objects/{uuid}`:
 * the only account of its host among the recipients of the reply or boost; otherwise `null`.
 */
export function findAuthor(
  address: string,
  recipients: readonly unknown[],
  owner: Owner,
): string | null {
  const host = parseUrl(address)?.hostname;
  const accounts = new Set(recipients.filter((each) => typeof each === 'string'));
  const handles = [...accounts]
    .filter((url) => parseUrl(url)?.hostname === host)
    .map((url) => (url === owner.address ? nameOf(owner) : parseFediverseAccount(url)))
    .filter((handle) => handle !== null);
  return handles.length === 1 ? (handles[0] ?? null) : null;
}

/** Returns the id of the quoted post if it can be in the same export; otherwise `null`. */
export function findOwnQuote(note: NotePayload, owner: Owner): string | null {
  const address = findQuote(note);
  if (address === null || parseUrl(address)?.hostname !== owner.host) return null;
  const quoted = parseFediversePost(address);
  // Ids are unique on a server, so a URL without a handle is that of an own post if the export
  // contains its id.
  const isOwn = quoted?.handle === null || handleOf(address, owner) === nameOf(owner);
  return isOwn && quoted !== null && quoted.id !== parseFediversePost(note.id)?.id
    ? quoted.id
    : null;
}

/*
 * Mastodon exports contain the files of posts as `media_attachments/files/…`, and the pictures of the profile as
 * `avatar.png` and `header.jpg` beside `outbox.json`. URLs in the export lack the host, and the leading `/system/` if the
 * account's own server stores the files. Source: Mastodon's `app/services/backup_service.rb`
 */

const maxName = 1000;

/** Returns a media file's name in posts; `null` for others. `folder`: folder of `outbox.json`. */
export function mediaNameOf(path: string, folder: string): string | null {
  if (!path.startsWith(folder) || /\.(?:json|csv)$/.test(path)) return null;
  const name = path.slice(folder.length);
  return name.length <= maxName ? name : null;
}

/**
 * Returns an attachment's reference; `null` if `path` is neither a path nor a web address. If the
 * file's server is unknown, the URL in the reference is a placeholder that starts with `export:`.
 */
export function referToFile(path: string, owner: Owner): MediaReference | null {
  const { host } = owner;
  if (isWebUrl(path)) return { url: path, name: toName(parseUrl(path)?.pathname ?? path) };
  if (path.startsWith('/') && !path.startsWith('/system/')) {
    return { url: toExportUrl(nameOf(owner), path), name: toName(path) };
  }
  const url = new URL(path, `https://${host}/system/`);
  if (url.protocol !== 'https:' || url.hostname !== host) return null;
  return { url: url.href, name: toName(path) };
}

function toProfilePictureUrl(path: string | null, handle: string): string | null {
  if (path === null || isWebUrl(path)) return path;
  return /^[\w-]{1,100}\.\w{1,10}$/.test(path) ? toExportUrl(handle, path) : null;
}

/** Returns references to an account's picture and banner, if their files are in the export. */
export function referToPictures({
  screen_name,
  avatar_url,
  banner_url,
}: Account): readonly MediaReference[] {
  const start = toExportUrl(screen_name, '');
  return [avatar_url, banner_url].flatMap((url) =>
    url?.startsWith(start) ? [{ url, name: url.slice(start.length) }] : [],
  );
}

const toExportUrl = (handle: string, path: string): string =>
  `${exportOnly}${handle.toLowerCase()}/${path.replace(/^\/+/, '')}`;

function toName(path: string): string {
  // Servers that store files elsewhere can add folders before `media_attachments`.
  const start = path.lastIndexOf('media_attachments/files/');
  return start < 0 ? path.replace(/^\/+(?:system\/)?/, '') : path.slice(start);
}
