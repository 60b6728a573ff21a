import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { parseHandle, profileUrl } from '../../../model/reference.ts';
import { toRichText } from '../../../platforms/html-text.ts';
import { describeProfile } from '../../../platforms/mastodon-profile.ts';
import { isWebUrl } from '../../../platforms/text.ts';
import type { RichText } from '../../../platforms/text-writer.ts';
import { toIsoTime } from '../../../platforms/times.ts';
import type { ExportFile } from '../files/export-files.ts';
import { createNaming } from './identity.ts';
import { type ActorPayload, actor } from './payload.ts';

/** Whose export it is. */
export interface Owner {
  /** The address that posts name their author by. */
  readonly address: string;
  /** Where its posts are. */
  readonly host: string;
  readonly account: Account;
}

/** An actor is a few thousand characters. */
const maxBytes = 1024 * 1024;

/**
 * Reads `actor.json`.
 *
 * @param handle What the account is called, where that is not `user@` the host of its address.
 * @throws Error with a sentence where it names no account
 */
export async function readOwner(
  { name: file, chunks }: Pick<ExportFile, 'name'> & { readonly chunks: AsyncIterable<Uint8Array> },
  handle: string | undefined,
): Promise<Owner> {
  const parsed = actor.safeParse(await readJson(chunks));
  if (!parsed.success) throw new Error(`The file ${file} describes no account.`);
  const { hostname: host } = new URL(parsed.data.id);
  const name = handle ?? `${parsed.data.preferredUsername}@${host}`;
  if (parseHandle(name)?.platform !== 'mastodon') {
    throw new Error(
      handle === undefined
        ? `The file ${file} is about ${name}, which is no handle that can be read.`
        : `${name} is no handle of Mastodon.`,
    );
  }
  return { address: parsed.data.id, host, account: shapeAccount(parsed.data, name) };
}

async function readJson(chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of chunks) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) return undefined;
  }
  try {
    return JSON.parse(
      Buffer.concat(parts)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
    );
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

/** The first field that is a link. */
function findLink({ attachment }: ActorPayload): string | null {
  const links = attachment.flatMap(({ value }) =>
    readHtml(value).facets.flatMap(({ type, url }) =>
      type === 'link' && url !== undefined ? [url] : [],
    ),
  );
  return links[0] ?? null;
}
