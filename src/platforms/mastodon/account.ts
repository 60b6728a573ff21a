import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { toRichText } from '../html-text.ts';
import { nameLeftOut } from '../left-out.ts';
import { isCut } from '../lenient.ts';
import { omitNull } from '../omit-null.ts';
import { webUrlOrNull } from '../text.ts';
import type { RichText } from '../text-writer.ts';
import { toIsoTime } from '../times.ts';
import { accountUrl, copiedFrom, createNaming, type Home, toHandle } from './identity.ts';
import type { AccountPayload } from './payload.ts';
import { describeProfile, type ProfileField } from './profile.ts';

/** Converts an account. The profile fields become the last lines of the description. */
export function shapeAccount(row: AccountPayload, home: Home): Account {
  const fields = row.fields.map(({ name, value, verified_at }) => {
    return { name, isVerified: verified_at !== null, value: readHtml(value, home) };
  });
  const handle = toHandle(row.acct, home);
  const account = toAccount({
    ...describeProfile(readHtml(row.note ?? '', home), fields),
    id: row.id,
    screen_name: handle,
    name: row.display_name ?? row.username,
    url: accountUrl(row, home),
    ...omitNull({ copied_from: copiedFrom(row.acct, home) }),
    avatar_url: pictureOf(row.avatar),
    banner_url: pictureOf(row.header),
    website: toWebsite(findLink(fields)),
    followers: countOf(row.followers_count),
    following: countOf(row.following_count),
    statuses: countOf(row.statuses_count),
    joined: toIsoTime(row.created_at),
    platform: 'mastodon',
  });
  const isWhole = row.fields.leftOut === undefined && !isCut(row.note);
  return isWhole ? account : nameLeftOut(account, ['description']);
}

/** Returns warnings: moved, limited by moderators, memorial, or automated. */
export function describeAccountState(row: AccountPayload, home: Home): readonly string[] {
  const moved = row.moved === null ? null : toHandle(row.moved.acct, home);
  return [
    ...(moved === null ? [] : [`This account has moved to @${moved}.`]),
    ...(row.limited === true ? [`The moderators of ${home.host} limit this account.`] : []),
    ...(row.memorial === true ? ['This account is a memorial to its owner.'] : []),
    ...(row.bot === true ? ['This account is marked as automated.'] : []),
  ];
}

interface Field extends ProfileField {
  readonly isVerified: boolean;
}

const readHtml = (html: string, home: Home): RichText =>
  toRichText(html, { nameMention: createNaming([], home) });

function findLink(fields: readonly Field[]): string | null {
  const links = fields.flatMap(({ isVerified, value }) => {
    const link = value.facets.find(({ type }) => type === 'link')?.url;
    return link === undefined ? [] : [{ link, isVerified }];
  });
  return (links.find(({ isVerified }) => isVerified) ?? links[0])?.link ?? null;
}

/** Returns the URL of an avatar or banner; `null` for the placeholder image of a server. */
const pictureOf = (url: string | null): string | null =>
  url?.endsWith('/missing.png') ? null : webUrlOrNull(url);

/** Returns `null` for a negative count, which some servers send if the owner hides it. */
const countOf = (count: number | null): number | null =>
  count === null || count < 0 ? null : count;
