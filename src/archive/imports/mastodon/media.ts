import { parseUrl } from '../../../core/http/url.ts';
import type { Account } from '../../../model/account.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import { exportOnly } from '../../media/media-links.ts';
import type { MediaReference } from '../export-source.ts';

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
export function referToFile(
  path: string,
  { host, handle }: { readonly host: string; readonly handle: string },
): MediaReference | null {
  if (isWebUrl(path)) return { url: path, name: toName(parseUrl(path)?.pathname ?? path) };
  if (path.startsWith('/') && !path.startsWith('/system/')) {
    return { url: toExportUrl(handle, path), name: toName(path) };
  }
  const url = new URL(path, `https://${host}/system/`);
  if (url.protocol !== 'https:' || url.hostname !== host) return null;
  return { url: url.href, name: toName(path) };
}

/** Returns a picture's URL; `null` if `path` is neither a web address nor a file name. */
export function toProfilePictureUrl(path: string | null, handle: string): string | null {
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
