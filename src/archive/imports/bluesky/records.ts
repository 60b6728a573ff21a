import { CID } from 'multiformats/cid';
import { z } from 'zod';
import { postCollection, recordUri } from '../../../platforms/bluesky/addresses.ts';
import { token } from '../../../platforms/lenient.ts';
import { readTimeMs } from '../../../platforms/times.ts';
import { link } from './car.ts';

/**
 * Schemas of imported records, from https://atproto.com/lexicons/app-bsky-feed, `-graph` and
 * `-actor`. Records with an invalid required member are skipped; other invalid members are ignored.
 */

export const anyRecord = z.looseObject({});

export type AnyRecord = z.output<typeof anyRecord>;

/** Post, whose other members `parsePost` checks. */
export const postRecord = z.looseObject({ $type: z.literal(postCollection) });

/** Profile, whose other members `parseActor` checks. A repository has one at most, at `self`. */
export const profileRecord = z.looseObject({ $type: z.literal('app.bsky.actor.profile') });

export const repostRecord = z.object({
  $type: z.literal('app.bsky.feed.repost'),
  subject: z.object({ uri: recordUri }),
  createdAt: token
    .transform(readTimeMs)
    .nullish()
    .transform((ms) => ms ?? null),
});

export const followRecord = z.object({
  $type: z.literal('app.bsky.graph.follow'),
  subject: z.string().regex(/^did:[a-z]+:[A-Za-z0-9._:%-]{1,250}$/),
});

/** Schema of a file reference. Outputs the CID from `ref`, or from `cid` in records before 2023. */
export const blob = z.union([
  z.object({ ref: link }).transform(({ ref }) => ref.toString()),
  z.object({ cid: token }).transform(({ cid }, context) => {
    try {
      return CID.parse(cid).toString();
    } catch {
      context.addIssue({ code: 'custom', message: 'This is not a CID.' });
      return z.NEVER;
    }
  }),
]);

/** Root block of a repository. `data` is the CID of the root of the record tree. */
export const commit = z.object({
  did: z.string().regex(/^did:(?:plc:[a-z2-7]{24}|web:[A-Za-z0-9.%-]{1,253})$/),
  version: z.number(),
  data: link,
});
