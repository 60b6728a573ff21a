import { parseUrl } from '../../../core/http/url.ts';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { parseHandle, profileUrl } from '../../../model/reference.ts';
import { toRichText } from '../../../platforms/html-text.ts';
import { describeProfile } from '../../../platforms/mastodon-profile.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import type { RichText } from '../../../platforms/text-writer.ts';
import { toIsoTime } from '../../../platforms/times.ts';
import { type ExportFile, type ExportFiles, readWhole } from '../files/export-files.ts';
import { type ActorPayload, actor, type MentionPayload } from './payload.ts';

export interface Owner {
  /** The address that posts name their author by. */
  readonly address: string;
  readonly host: string;
  readonly account: Account;
}

/** An actor is a few thousand characters. */
const maxBytes = 1024 * 1024;

/**
 * Reads `actor.json`. `handle` is what the account is called if not `user@` the host of its address.
 * @throws Error with a sentence if it names no account
 */
export async function readOwner(
  file: ExportFile,
  read: ExportFiles['read'],
  handle: string | undefined,
): Promise<Owner> {
  const parsed = actor.safeParse(file.bytes > maxBytes ? undefined : await readJson(read(file)));
  if (!parsed.success) throw new Error(`The file ${file.name} describes no account.`);
  const { hostname: host } = new URL(parsed.data.id);
  const name = handle ?? `${parsed.data.preferredUsername}@${host}`;
  if (parseHandle(name)?.platform !== 'mastodon') {
    throw new Error(
      handle === undefined
        ? `The file ${file.name} is about ${name}, which is no handle that can be read.`
        : `${name} is no handle of Mastodon.`,
    );
  }
  return { address: parsed.data.id, host, account: shapeAccount(parsed.data, name) };
}

async function readJson(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const text = (await readWhole(chunks)).toString('utf8');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined; // cut off, or no JSON at all
  }
}

function shapeAccount(row: ActorPayload, handle: string): Account {
  return toAccount({
    id: row.id,
    screen_name: handle,
    name: row.name ?? row.preferredUsername,
    url: row.url !== null && isWebUrl(row.url) ? row.url : profileUrl('mastodon', handle, ''),
    ...describe(row),
    // In an export these are names of files in it; other software leaves the addresses.
    avatar_url: row.icon !== null && isWebUrl(row.icon) ? row.icon : null,
    banner_url: row.image !== null && isWebUrl(row.image) ? row.image : null,
    website: toWebsite(findLink(row)),
    joined: toIsoTime(row.published),
    platform: 'mastodon',
  });
}

/** The lines below its own words are its fields, and where it has moved. */
function describe({ summary, attachment, movedTo }: ActorPayload) {
  const fields = attachment.map(({ name, value }) => ({ name, value: readHtml(value) }));
  const moved = { name: 'Moved to', value: { text: movedTo ?? '', facets: [] } };
  return describeProfile(readHtml(summary ?? ''), movedTo === null ? fields : [...fields, moved]);
}

function readHtml(html: string): RichText {
  return toRichText(html, { nameMention: createNaming([]) });
}

function findLink({ attachment }: ActorPayload): string | null {
  const links = attachment.flatMap(({ value }) =>
    readHtml(value).facets.flatMap(({ type, url }) =>
      type === 'link' && url !== undefined ? [url] : [],
    ),
  );
  return links[0] ?? null;
}

/** Makes the way to name the mentions in a post by what it says of them. */
export function createNaming(mentions: readonly MentionPayload[]) {
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

/** An account of the author's own server is named without it. */
function handleOf({ name, href }: MentionPayload): string | null {
  const handle = name.replace(/^@/, '');
  if (handle.includes('@')) return handle;
  const url = parseUrl(href);
  return url === null ? null : `${handle}@${url.hostname}`;
}
