import { parseUrl } from '../../../core/http/url.ts';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { parseHandle } from '../../../model/reference.ts';
import { toRichText } from '../../../platforms/html-text.ts';
import { describeProfile } from '../../../platforms/mastodon/profile.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import type { RichText } from '../../../platforms/text-writer.ts';
import { toIsoTime } from '../../../platforms/times.ts';
import { type ExportFile, type ExportFiles, readWhole } from '../files/export-files.ts';
import { toProfilePictureUrl } from './media.ts';
import { type ActorPayload, actor, type MentionPayload } from './payload.ts';

export interface Owner {
  /** ActivityPub id (URL) by which posts refer to their author. */
  readonly address: string;
  readonly host: string;
  /** Lower-case handle in the URLs of its server. The real handle can have another domain. */
  readonly localHandle: string;
  readonly account: Account;
}

const maxBytes = 1024 * 1024; // maximum size of `actor.json`, which usually has a few KB

/** Reads `actor.json`. `handle` overrides its handle. @throws Error if either is invalid */
export async function readOwner(
  file: ExportFile,
  read: ExportFiles['read'],
  handle: string | undefined,
): Promise<Owner> {
  const parsed = actor.safeParse(file.bytes > maxBytes ? undefined : await readJson(read(file)));
  if (!parsed.success) throw new Error(`${file.name} contains no account. Download it again.`);
  const { hostname: host } = new URL(parsed.data.id);
  const name = handle ?? `${parsed.data.preferredUsername}@${host}`;
  if (parseHandle(name)?.platform !== 'mastodon') {
    throw new Error(
      handle === undefined
        ? `${file.name} describes ${name}, which is not a valid handle.`
        : `${name} is not a Mastodon handle.`,
    );
  }
  const localHandle = `${parsed.data.preferredUsername}@${host}`.toLowerCase();
  return { address: parsed.data.id, host, localHandle, account: shapeAccount(parsed.data, name) };
}

async function readJson(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const text = (await readWhole(chunks)).toString('utf8');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined; // truncated or not JSON
  }
}

function shapeAccount(row: ActorPayload, handle: string): Account {
  return toAccount({
    id: row.id,
    screen_name: handle,
    name: row.name ?? row.preferredUsername,
    url: row.url !== null && isWebUrl(row.url) ? row.url : profileUrl('mastodon', handle, ''),
    ...describeActor(row),
    // Mastodon exports contain file names here. Exports by other software contain URLs.
    avatar_url: toProfilePictureUrl(row.icon, handle),
    banner_url: toProfilePictureUrl(row.image, handle),
    website: toWebsite(findLink(row)),
    joined: toIsoTime(row.published),
    platform: 'mastodon',
  });
}

function describeActor({ summary, attachment, movedTo }: ActorPayload) {
  const fields = attachment.map(({ name, value }) => ({ name, value: readHtml(value) }));
  const moved = { name: 'Moved to', value: { text: movedTo ?? '', facets: [] } };
  return describeProfile(readHtml(summary ?? ''), movedTo === null ? fields : [...fields, moved]);
}

const readHtml = (html: string): RichText =>
  toRichText(html, { nameMention: createMentionNamer([]) });

function findLink({ attachment }: ActorPayload): string | null {
  const links = attachment.flatMap(({ value }) =>
    readHtml(value).facets.flatMap(({ type, url }) =>
      type === 'link' && url !== undefined ? [url] : [],
    ),
  );
  return links[0] ?? null;
}

/** Creates a function that returns the full handle of a mentioned account; `null` if unknown. */
export function createMentionNamer(mentions: readonly MentionPayload[]) {
  return (url: string, label: string): string | null => {
    const user = label.trim().replace(/^@/, '').toLowerCase();
    const [only, ...others] = mentions.filter(
      ({ name }) => name.replace(/^@/, '').split('@')[0]?.toLowerCase() === user,
    );
    const known =
      mentions.find(({ href }) => href === url) ?? (others.length === 0 ? only : undefined);
    return known === undefined ? null : handleOf(known);
  };
}

function handleOf({ name, href }: MentionPayload): string | null {
  const handle = name.replace(/^@/, '');
  if (handle.includes('@')) return handle;
  const url = parseUrl(href);
  return url === null ? null : `${handle}@${url.hostname}`;
}
