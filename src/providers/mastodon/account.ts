import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { toRichText } from '../../platforms/html-text.ts';
import { known } from '../../platforms/known.ts';
import { isCut } from '../../platforms/lenient.ts';
import { describeProfile, type ProfileField } from '../../platforms/mastodon-profile.ts';
import { webUrlOrNull } from '../../platforms/text.ts';
import type { RichText } from '../../platforms/text-writer.ts';
import { toIsoTime } from '../../platforms/times.ts';
import { nameLeftOut } from '../bound-post.ts';
import { accountUrl, copiedAccount, createNaming, type Home, toHandle } from './identity.ts';
import type { AccountPayload } from './payload.ts';

/** Returns the account that a server describes. Its fields are the last lines of the description. */
export function shapeAccount(row: AccountPayload, home: Home): Account {
  const fields = row.fields.map((field) => readField(field, home));
  const handle = toHandle(row.acct, home);
  const account = toAccount({
    ...describeProfile(toAbout(row.note, home), fields),
    id: row.id,
    screen_name: handle,
    name: row.display_name ?? row.username,
    url: accountUrl(row, home),
    ...known({ copied_from: copiedAccount(row, home) }),
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

export function tellAccount(row: AccountPayload, home: Home): readonly string[] {
  const moved = row.moved === null ? null : toHandle(row.moved.acct, home);
  return [
    ...(moved === null ? [] : [`This account has moved to @${moved}.`]),
    ...(row.limited === true ? [`The moderators of ${home.host} limit this account.`] : []),
    ...(row.memorial === true ? ['This account is kept in memory of its owner.'] : []),
    ...(row.bot === true ? ['This account says that a program writes its posts.'] : []),
  ];
}

interface Field extends ProfileField {
  readonly isVerified: boolean;
}

function readField({ name, value, verified_at }: AccountPayload['fields'][number], home: Home) {
  return { name, isVerified: verified_at !== null, value: readHtml(value, home) };
}

function readHtml(html: string, home: Home): RichText {
  return toRichText(html, { nameMention: createNaming([], home) });
}

function toAbout(note: string | null, home: Home): RichText {
  return note === null ? { text: '', facets: [] } : readHtml(note, home);
}

/** The first field that is a link; one that links back to the account counts more. */
function findLink(fields: readonly Field[]): string | null {
  const links = fields.flatMap(({ isVerified, value }) => {
    const link = value.facets.find(({ type }) => type === 'link')?.url;
    return link === undefined ? [] : [{ link, isVerified }];
  });
  return (links.find(({ isVerified }) => isVerified) ?? links[0])?.link ?? null;
}

/** A picture that an account has not set is a file of the server's own. */
function pictureOf(url: string | null): string | null {
  return url?.endsWith('/missing.png') ? null : webUrlOrNull(url);
}

/** Some servers send -1 for a count that the owner hides. */
function countOf(count: number | null): number | null {
  return count === null || count < 0 ? null : count;
}
