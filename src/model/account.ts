import { z } from 'zod';
import { openText } from '../core/json-schema.ts';
import { copiedFrom } from './copied-from.ts';
import { facet } from './facet.ts';
import { leftOut } from './left-out.ts';
import { platform } from './reference.ts';

const count = z.number().nullable();

const website = z
  .object({
    url: z.string(),
    display_url: z.string().describe('The address as the platform shows it.'),
  })
  .readonly();

/** The page that an account names as its own. */
export type Website = z.output<typeof website>;

const verificationTypes = ['individual', 'organization', 'government'];

/** A public account. Counts are null where the provider does not tell them. */
export const account = z
  .object({
    id: z.string(),
    screen_name: z.string().describe('The handle, without `@`.'),
    name: z.string(),
    url: z.string(),
    copied_from: copiedFrom
      .optional()
      .describe('Present where another server than the account’s own describes it here.'),
    description: z.string().nullable(),
    description_facets: z
      .array(facet)
      .readonly()
      .optional()
      .describe('Links, mentions and styles of `description`. Absent where none are known.'),
    location: z.string().nullable(),
    avatar_url: z.string().nullable(),
    banner_url: z.string().nullable(),
    website: website.nullable().describe('The page that it names as its own.'),
    followers: count,
    following: count,
    statuses: count,
    media_count: count,
    likes: count,
    joined: z.string().nullable().describe('ISO 8601, UTC.'),
    protected: z.boolean(),
    verification: z
      .object({
        verified: z.boolean(),
        type: openText(verificationTypes, 'What the account was verified as.').nullable(),
      })
      .readonly(),
    left_out: leftOut,
    platform,
  })
  .readonly()
  .meta({ id: 'Account' });

/** A public account. */
export type Account = z.output<typeof account>;

/** What must be known of an account; everything else may be unknown. */
export type KnownAccount = Pick<Account, 'id' | 'screen_name' | 'name' | 'url' | 'platform'> &
  Partial<Account>;

/** Gives an account of which some is known; the rest is null, public and not verified. */
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
export function toWebsite(url: string | null, shown: string | null = null): Website | null {
  if (url === null || url === '') return null;
  const bare = url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
  return { url, display_url: shown || bare || url };
}
