import { z } from 'zod';
import { toIsoSeconds } from '../../../core/clock.ts';
import { type Account, toAccount, toWebsite } from '../../../model/account.ts';
import { profileUrl } from '../../../model/addresses/urls.ts';
import { lenient, textOrNull, tokenOrNull } from '../../../platforms/lenient.ts';
import { webUrlOrNull } from '../../../platforms/text.ts';
import { enlargeAvatar, xHandle } from '../../../platforms/x.ts';
import type { ExportSource } from '../export-source.ts';
import { createExportSource, type ExportFile, type ExportFiles } from '../files/export-files.ts';
import { readLeftOut } from '../left-out.ts';
import { readRows } from '../records.ts';
import { readScript } from './account.ts';
import { createMonthlyReasonOf } from './left-out.ts';
import { noNotes } from './notes.ts';
import { readId, readXTimeMs, userPayload } from './payload.ts';
import { readPosts } from './posts.ts';

/*
 * Exports of X from 2012 to 2018: a script for each month, such as `data/js/tweets/2015_01.js`, and the account in
 * `data/js/user_details.js`. The file `tweets.csv` contains the same posts.
 */

export interface MonthlyParts {
  /** Folder of the scripts, with a trailing `/`: `data/js/`. */
  readonly folder: string;
  /** Scripts with posts, oldest first. */
  readonly months: readonly ExportFile[];
  readonly details: ExportFile | undefined;
  readonly payload: ExportFile | undefined;
}

const month = /^((?:.*\/)?js\/)tweets\/\d{4}_\d\d\.js$/s;

/** Finds the files of an export from 2012 to 2018. */
export function findMonths(files: readonly ExportFile[]): MonthlyParts | null {
  const [folder] = files.flatMap(({ name }) => month.exec(name)?.[1] ?? []);
  if (folder === undefined) return null;
  const find = (name: string) => files.find((file) => file.name === `${folder}${name}`);
  const details = find('user_details.js');
  const months = files
    .filter(({ name }) => month.exec(name)?.[1] === folder)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { folder, months, details, payload: find('payload_details.js') };
}

export async function openMonths(
  path: string,
  files: ExportFiles,
  parts: MonthlyParts,
): Promise<ExportSource> {
  const payload = await readScript(payloadDetails, parts.payload, files.read);
  const madeMs = readXTimeMs(payload?.created_at);
  return createExportSource(files, parts.months, (read) => ({
    title: 'X export',
    ...(madeMs !== null && { exported: Math.floor(madeMs / 1000) }),
    groups: async function* () {
      const account = await readAccount(parts, payload?.tweets ?? null, files.read);
      yield [{ kind: 'account', account }];
      const without = { notes: noNotes, edited: new Set<string>() };
      yield* readPosts(parts.months, { read, account, ...without, hasOriginals: true });
      yield* readLeftOut(path, createMonthlyReasonOf(parts));
    },
  }));
}

const payloadDetails = z.object({
  created_at: tokenOrNull,
  tweets: z.int().nullable().catch(null),
});

const userDetails = z.object({
  id: z.unknown().optional().transform(readId),
  screen_name: lenient(xHandle),
  full_name: textOrNull,
  bio: textOrNull,
  location: textOrNull,
  url: tokenOrNull,
  expanded_url: tokenOrNull,
  created_at: tokenOrNull,
});

/** Reads the account. Missing facts come from a post's author. @throws Error if no handle exists */
async function readAccount(
  { folder, details, months }: MonthlyParts,
  statuses: number | null,
  read: ExportFiles['read'],
): Promise<Account> {
  const known = await readScript(userDetails, details, read);
  const author = await readAuthor(months, read);
  const screen_name = known?.screen_name ?? author?.screen_name;
  if (screen_name === undefined) {
    throw new Error(
      `${folder}user_details.js does not contain an account. The export may be incomplete. Unpack it again.`,
    );
  }
  const joinedMs = readXTimeMs(known?.created_at);
  return toAccount({
    id: known?.id ?? author?.id_str ?? author?.id ?? screen_name,
    screen_name,
    name: known?.full_name ?? author?.name ?? screen_name,
    url: profileUrl('x', screen_name, ''),
    description: known?.bio ?? null,
    location: known?.location ?? null,
    website: toWebsite(webUrlOrNull(known?.expanded_url ?? known?.url ?? null)),
    avatar_url: enlargeAvatar(webUrlOrNull(author?.profile_image_url_https ?? null)),
    statuses,
    joined: joinedMs === null ? null : toIsoSeconds(joinedMs),
    protected: author?.protected ?? false,
    platform: 'x',
  });
}

async function readAuthor(months: readonly ExportFile[], read: ExportFiles['read']) {
  const schema = z.object({ user: userPayload });
  for await (const { user } of readRows(months.toReversed(), { schema, read })) return user;
  return null;
}
