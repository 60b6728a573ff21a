import type { Account } from '../../../model/account.ts';
import type { Post } from '../../../model/post.ts';
import { composeAccounts } from './cast.ts';
import {
  composePosts,
  composeReposts,
  composeTombstoneParents,
  type SampleRepost,
} from './compose.ts';
import { follows } from './follows.ts';
import { bakery } from './posts/bakery.ts';
import { clocks } from './posts/clocks.ts';
import { diary } from './posts/diary.ts';
import { ferry } from './posts/ferry.ts';
import { heron } from './posts/heron.ts';
import { heronReplies } from './posts/heron-replies.ts';
import { lighthouse } from './posts/lighthouse.ts';
import { maps } from './posts/maps.ts';
import { market } from './posts/market.ts';
import { mountain } from './posts/mountain.ts';
import { paper } from './posts/paper.ts';
import { parsers } from './posts/parsers.ts';
import { puzzles } from './posts/puzzles.ts';
import { stars } from './posts/stars.ts';
import { trams } from './posts/trams.ts';
import { reposts } from './reposts.ts';

/** The version of the sample's content. It is raised when the content changes. */
export const sampleVersion: number = 6;

/** A made-up archive: accounts, posts from the oldest to the newest, and who follows whom. */
export interface SampleArchive {
  readonly accounts: readonly Account[];
  readonly posts: readonly Post[];
  /** What posts that are gone had answered, by id: a tombstone itself does not say it. */
  readonly tombstoneParents: ReadonlyMap<string, string>;
  /** Who passed on whose posts. */
  readonly reposts: readonly SampleRepost[];
  /** Both by handle. */
  readonly follows: readonly { readonly follower: string; readonly following: string }[];
}

/**
 * Gives the made-up archive that a fresh installation serves; the same on every call. Addresses that
 * lead to Perch itself begin with `perch:`.
 */
export function buildSample(): SampleArchive {
  const accounts = composeAccounts();
  const families = [heron, heronReplies, diary, lighthouse, stars, bakery, maps, parsers];
  const more = [trams, paper, puzzles, ferry, mountain, market, clocks];
  const drafts = [...families, ...more].flat();
  return {
    accounts: [...accounts.values()],
    posts: composePosts(drafts, accounts),
    tombstoneParents: composeTombstoneParents(drafts),
    reposts: composeReposts(reposts, drafts),
    follows: Object.entries(follows).flatMap(([follower, others]) =>
      others.map((following) => ({
        follower: `${follower}.example`,
        following: `${following}.example`,
      })),
    ),
  };
}
