import * as z from 'zod';
import { openEnum } from '../lib/json-schema.ts';
import { count, list, nullableText, optionalText, record } from './record.ts';
import { platform } from './reference.ts';

/** Range of a text with an annotation: a link, a mention, a tag or a style. */
export const facet = record('Facet', {
  type: z.enum(['link', 'mention', 'hashtag', 'symbol', 'bold', 'italic', 'strikethrough', 'code']),
  start: z
    .number()
    .int()
    .describe('Start of the range in `text`, as a number of Unicode code points.'),
  end: z
    .number()
    .int()
    .describe('End of the range in `text` (exclusive), as a number of Unicode code points.'),
  url: optionalText.describe('Target of a link, mention or tag.'),
});

/** Mastodon server from which Perch read a copy of another server's content, and its URL. */
export const copiedFrom = record('CopiedFrom', {
  host: z
    .string()
    .describe(
      'Host of the Mastodon server from which Perch read a copy of the post or account. The host is not the home of the author, and may have changed the content.',
    ),
  url: z.string().describe('URL of the copy on the server `host`.'),
});
export type CopiedFrom = z.output<typeof copiedFrom>;

/** Names of incomplete members: the source sent too much or unreadable data. */
export const leftOut = list(z.string())
  .optional()
  .describe(
    'Names of the JSON members of this object that are incomplete, because the source sent too much data or unreadable data. Absent if all members are complete.',
  );

const website = z
  .object({
    url: z.string(),
    display_url: z.string().describe('URL in the form that the platform displays.'),
  })
  .readonly();

const verificationTypes = ['individual', 'organization', 'government'];

export const account = record('Account', {
  id: z.string(),
  screen_name: z.string().describe('Handle, without `@`.'),
  name: z.string(),
  url: z.string(),
  copied_from: copiedFrom
    .optional()
    .describe(
      'Server from which Perch read the account, if it is not the server of the account; otherwise absent.',
    ),
  description: nullableText,
  description_facets: list(facet)
    .optional()
    .describe('Links, mentions and styles of `description`. Absent if none are known.'),
  location: nullableText,
  avatar_url: nullableText,
  banner_url: nullableText,
  website: website.nullable().describe('Website in the profile of the account.'),
  followers: count,
  following: count,
  statuses: count,
  media_count: count,
  likes: count,
  joined: nullableText.describe('Time at which the account was created: ISO 8601, UTC.'),
  protected: z.boolean(),
  verification: z
    .object({
      verified: z.boolean(),
      type: openEnum(verificationTypes, 'Kind of verification.').nullable(),
    })
    .readonly(),
  left_out: leftOut,
  platform,
});
export type Account = z.output<typeof account>;

type KnownAccount = Pick<Account, 'id' | 'screen_name' | 'name' | 'url' | 'platform'> &
  Partial<Account>;

/** Fills missing members with `null`, but `protected` and `verified` with `false`. */
export function toAccount(known: KnownAccount): Account {
  return {
    description: null,
    location: null,
    avatar_url: null,
    banner_url: null,
    website: null,
    followers: null,
    following: null,
    statuses: null,
    media_count: null,
    likes: null,
    joined: null,
    protected: false,
    verification: { verified: false, type: null },
    ...known,
  };
}

/** Returns `null` for an empty `url`. `display` defaults to it without scheme and last slash. */
export function toWebsite(url: string | null, display: string | null = null): Account['website'] {
  if (url === null || url === '') return null;
  const bare = url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
  return { url, display_url: display || bare || url };
}
