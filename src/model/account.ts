import { z } from 'zod';
import { openText } from '../core/json-schema.ts';
import { count, list, maybeText, optionalText, record } from './record.ts';
import { platform } from './reference.ts';

/** A marked run of a text: a link, a mention, a tag or a style. */
export const facet = record('Facet', {
  type: z.enum(['link', 'mention', 'hashtag', 'symbol', 'bold', 'italic', 'strikethrough', 'code']),
  start: z.number().int().describe('First Unicode code point of the run in `text`.'),
  end: z.number().int().describe('Code point after the run.'),
  url: optionalText.describe('Where a link, mention or tag leads.'),
});

/** The server that sent a copy of something of another server. */
export const copiedFrom = record('CopiedFrom', {
  host: z.string().describe('The server that was asked, which may have changed the copy.'),
  url: z.string().describe('The address of the copy on that server.'),
});
export type CopiedFrom = z.output<typeof copiedFrom>;

/** The members of a post or an account that are not whole. */
export const leftOut = list(z.string())
  .optional()
  .describe(
    'The members of which a part is missing, because the source sent more than Perch reads, or something unreadable. Absent where everything is here.',
  );

const website = z
  .object({
    url: z.string(),
    display_url: z.string().describe('The address as the platform shows it.'),
  })
  .readonly();

const verificationTypes = ['individual', 'organization', 'government'];

export const account = record('Account', {
  id: z.string(),
  screen_name: z.string().describe('The handle, without `@`.'),
  name: z.string(),
  url: z.string(),
  copied_from: copiedFrom
    .optional()
    .describe('Present where another server than the account’s own describes it here.'),
  description: maybeText,
  description_facets: list(facet)
    .optional()
    .describe('Links, mentions and styles of `description`. Absent where none are known.'),
  location: maybeText,
  avatar_url: maybeText,
  banner_url: maybeText,
  website: website.nullable().describe('The page that it names as its own.'),
  followers: count,
  following: count,
  statuses: count,
  media_count: count,
  likes: count,
  joined: maybeText.describe('ISO 8601, UTC.'),
  protected: z.boolean(),
  verification: z
    .object({
      verified: z.boolean(),
      type: openText(verificationTypes, 'What the account was verified as.').nullable(),
    })
    .readonly(),
  left_out: leftOut,
  platform,
});
export type Account = z.output<typeof account>;

type KnownAccount = Pick<Account, 'id' | 'screen_name' | 'name' | 'url' | 'platform'> &
  Partial<Account>;

/** Returns an account of which some is known; the rest is `null`, public and not verified. */
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

/**
 * Returns the website with an address; `null` without an address. It is shown as the platform shows it,
 * else without its scheme and a slash at its end.
 */
export function toWebsite(url: string | null, shown: string | null = null): Account['website'] {
  if (url === null || url === '') return null;
  const bare = url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
  return { url, display_url: shown || bare || url };
}
