import { z } from 'zod';
import { platform } from './reference.ts';

const count = z.number().nullable();

/** A public account. Counts are null where the provider does not tell them. */
export const account = z
  .object({
    id: z.string(),
    screen_name: z.string().describe('The handle, without `@`.'),
    name: z.string(),
    url: z.string(),
    description: z.string().nullable(),
    location: z.string().nullable(),
    avatar_url: z.string().nullable(),
    banner_url: z.string().nullable(),
    website: z.string().nullable(),
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
        type: z.string().nullable().describe('`individual`, `organization`, `government`, …'),
      })
      .readonly(),
    platform,
  })
  .readonly()
  .meta({ id: 'Account' });

/** A public account. */
export type Account = z.output<typeof account>;
