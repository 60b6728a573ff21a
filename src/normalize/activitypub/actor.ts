import * as z from 'zod';
import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { isFediverseAccount } from '../../model/addresses/address.ts';
import { profileUrl } from '../../model/addresses/urls.ts';
import { nameLeftOut } from '../fields.ts';
import { toRichText } from '../html-text.ts';
import { isCut, lenient, line, parserOf, textOrNull, tokenOrNull } from '../lenient.ts';
import { describeProfile } from '../mastodon/text.ts';
import { maximums } from '../maximums.ts';
import { webUrlOrNull } from '../text.ts';
import { toIsoTime } from '../times.ts';
import { createMentionNamer } from './content.ts';
import { hostOf, isActorType, isObject, picture, toObjectId, typeOf } from './object.ts';
import { idOf, idOrNull, manyOf } from './wire.ts';

const flag = lenient(z.boolean());
const field = z.object({ type: z.literal('PropertyValue'), name: line, value: line });

const readActor = parserOf(
  z.object({
    preferredUsername: tokenOrNull,
    name: textOrNull,
    summary: textOrNull,
    url: manyOf(idOf, maximums.fields),
    icon: picture,
    image: picture,
    published: tokenOrNull,
    followers: idOrNull,
    following: idOrNull,
    outbox: idOrNull,
    movedTo: idOrNull,
    suspended: flag,
    memorial: flag,
    // Other kinds of attachments are no faults.
    attachment: z.unknown().transform((all) => {
      const fields = Array.isArray(all) ? all.filter(isObject) : [];
      return fieldList.parse(fields.filter((each) => typeOf(each) === 'PropertyValue'));
    }),
  }),
);
const fieldList = manyOf(field, maximums.fields);

export type ActorPayload = NonNullable<ReturnType<typeof parseActor>>;

/** Parses the object of an account. Returns `null` for other objects. */
export function parseActor(body: Readonly<Record<string, unknown>>) {
  const [id, type] = [toObjectId(body.id), typeOf(body)];
  const row = id === null || !isActorType(type) ? null : readActor({ attachment: [], ...body });
  return id === null || row === null ? null : { ...row, id, type };
}

/** Returns the handle of an account on the host of its object. */
export function handleOfActor({ id, preferredUsername }: ActorPayload): string {
  const last = id.split(/[/?#]/).findLast((part) => part !== '') ?? '';
  return `${preferredUsername ?? last.replace(/^@/, '')}@${hostOf(id)}`;
}

type Counts = Partial<Pick<Account, 'followers' | 'following' | 'statuses'>>;

/** Converts an account. The profile fields become the last lines of the description. */
export function shapeActor(
  row: ActorPayload,
  { handle = handleOfActor(row), counts = {} }: { handle?: string; counts?: Counts } = {},
): Account {
  const fields = row.attachment.map(({ name, value }) => ({ name, value: readHtml(value) }));
  const links = fields.flatMap(({ value }) => value.facets.filter(({ type }) => type === 'link'));
  const page = row.url.find(isFediverseAccount);
  const account = toAccount({
    ...describeProfile(readHtml(row.summary ?? ''), fields),
    ...counts,
    id: row.id,
    screen_name: handle,
    name: row.name ?? row.preferredUsername ?? handle,
    url: page ?? profileUrl('activitypub', handle, ''),
    avatar_url: webUrlOrNull(row.icon),
    banner_url: webUrlOrNull(row.image),
    website: toWebsite(links[0]?.url ?? null),
    joined: toIsoTime(row.published),
    platform: 'activitypub',
  });
  const isWhole = row.attachment.leftOut === undefined && !isCut(row.summary);
  return isWhole ? account : nameLeftOut(account, ['description']);
}

/** Returns an account of which only the address is known, because its server did not send it. */
export function toUnreadAuthor(id: string): Account {
  const last = id.split(/[/?#]/).findLast((part) => part !== '') ?? '';
  const handle = `${last.replace(/^@/, '')}@${hostOf(id)}`;
  const url = isFediverseAccount(id) ? id : profileUrl('activitypub', handle, '');
  return toAccount({ id, screen_name: handle, name: handle, url, platform: 'activitypub' });
}

/** Returns warnings: moved, memorial, automated, or a group. */
export function describeActor({ movedTo, memorial, type }: ActorPayload): readonly string[] {
  const isAutomated = type === 'Service' || type === 'Application';
  return [
    ...(movedTo === null ? [] : [`This account has moved to ${movedTo}.`]),
    ...(memorial === true ? ['This account is a memorial to its owner.'] : []),
    ...(isAutomated ? ['This account is marked as automated.'] : []),
    ...(type === 'Group' ? ['This account is a group, which shares posts of its members.'] : []),
  ];
}

const readHtml = (html: string) => toRichText(html, { nameMention: createMentionNamer([]) });
