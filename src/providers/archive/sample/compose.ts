import { toIsoSeconds } from '../../../core/clock.ts';
import type { Account } from '../../../model/account.ts';
import { toMediaSet } from '../../../model/media.ts';
import type { Poll } from '../../../model/poll.ts';
import type { Facet, Post, Status, Tombstone } from '../../../model/post.ts';
import { postUrl } from '../../../model/reference.ts';
import { ownAddress } from '../own-address.ts';
import { type AuthorName, cast } from './cast.ts';
import { composeArticle } from './compose-article.ts';
import { composeMedia } from './compose-media.ts';
import type { PollDraft, PostDraft, StatusDraft, TombstoneDraft } from './drafts.ts';
import { findRun, markText } from './mark-text.ts';
import { toId } from './post-id.ts';
import type { RepostDraft } from './reposts.ts';

/** What a draft is composed from: the accounts, the older posts, and who answers and quotes it. */
interface Desk {
  readonly accounts: ReadonlyMap<AuthorName, Account>;
  readonly finished: ReadonlyMap<string, Post>;
  readonly replies: ReadonlyMap<string, number>;
  readonly quotes: ReadonlyMap<string, number>;
}

/**
 * Gives the posts that the drafts describe, oldest first.
 *
 * @throws Error when a draft names a key that no older draft has: the sample contradicts itself.
 */
export function composePosts(
  drafts: readonly PostDraft[],
  accounts: ReadonlyMap<AuthorName, Account>,
): readonly Post[] {
  const statuses = drafts.filter((draft): draft is StatusDraft => !('gone' in draft));
  const finished = new Map<string, Post>();
  const desk = {
    accounts,
    finished,
    replies: tally(statuses.map((draft) => draft.to)),
    quotes: tally(statuses.map((draft) => draft.quote)),
  };
  for (const draft of drafts.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    if (finished.has(draft.key)) throw new Error(`Two posts of the sample are named ${draft.key}.`);
    finished.set(
      draft.key,
      'gone' in draft ? composeTombstone(draft, desk) : composeStatus(draft, desk),
    );
  }
  return [...finished.values()];
}

/** Gives, by id, the id of the post that each post which is gone had answered. */
export function composeTombstoneParents(drafts: readonly PostDraft[]): ReadonlyMap<string, string> {
  const ids = new Map(drafts.map((draft) => [draft.key, toId(draft.at)]));
  return new Map(
    drafts.flatMap((draft) =>
      'gone' in draft && draft.to !== undefined ? [[toId(draft.at), take(ids, draft.to)]] : [],
    ),
  );
}

/** A repost of the sample, as the archive keeps reposts. */
export interface SampleRepost {
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** Unix seconds. */
  readonly created: number;
}

/**
 * Gives the reposts that the drafts describe.
 *
 * @throws Error when one is of a post that is not there.
 */
export function composeReposts(
  reposts: readonly RepostDraft[],
  drafts: readonly PostDraft[],
): readonly SampleRepost[] {
  const byKey = new Map(drafts.map((draft) => [draft.key, draft]));
  return reposts.map(({ by, of, at }) => {
    const original = take(byKey, of);
    return {
      handle: `${by}.example`,
      postHandle: `${original.by}.example`,
      postId: toId(original.at),
      created: Date.parse(at) / 1000,
    };
  });
}

function composeTombstone(draft: TombstoneDraft, desk: Desk): Tombstone {
  const id = toId(draft.at);
  return {
    type: 'tombstone',
    id,
    url: draft.by === null ? null : toUrl(draft.by, id),
    text: draft.text,
    reason: draft.gone,
    author: draft.by === null ? null : take(desk.accounts, draft.by),
    context: null,
    platform: 'sample',
  };
}

function composeStatus(draft: StatusDraft, desk: Desk): Status {
  const id = toId(draft.at);
  const created = Date.parse(draft.at);
  const createdAt = toIsoSeconds(created);
  const addressOf = (key: string) => take(desk.finished, key).url ?? ownAddress;
  return {
    type: 'status',
    id,
    url: toUrl(draft.by, id),
    text: draft.text,
    facets: composeFacets(draft),
    created_at: createdAt,
    created_timestamp: created / 1000,
    author: take(desk.accounts, draft.by),
    lang: draft.lang ?? cast[draft.by].lang,
    ...composeCounts(draft, desk),
    source: cast[draft.by].client,
    possibly_sensitive: draft.sensitive ?? false,
    replying_to: draft.to === undefined ? null : composeParent(take(desk.finished, draft.to)),
    quote: draft.quote === undefined ? null : take(desk.finished, draft.quote),
    reposted_by: null,
    media: toMediaSet((draft.media ?? []).map(composeMedia)),
    poll: draft.poll === undefined ? null : composePoll(draft.poll),
    article:
      draft.article === undefined
        ? null
        : composeArticle(draft.article, { id, createdAt, addressOf }),
    content_warning: null,
    card: null,
    community_note: draft.note ?? null,
    context: null,
    platform: 'sample',
  };
}

function composeFacets(draft: StatusDraft): readonly Facet[] {
  const styled = (draft.styles ?? []).map(([type, run]) => ({ type, ...findRun(draft.text, run) }));
  return [...markText(draft.text), ...styled].sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Derives what a draft leaves out from its likes, in the proportions that such posts have. */
function composeCounts(draft: StatusDraft, desk: Desk) {
  const { likes } = draft;
  const minute = Math.floor(Date.parse(draft.at) / 60_000);
  const quotes = desk.quotes.get(draft.key) ?? 0;
  return {
    replies: (desk.replies.get(draft.key) ?? 0) + (draft.moreReplies ?? 0),
    reposts: Math.floor((likes * (6 + (minute % 7))) / 100),
    likes,
    quotes: quotes + Math.floor(likes / 70),
    bookmarks: Math.floor((likes * (3 + (minute % 5))) / 100),
    views: cast[draft.by].hidesViews ? null : likes * (21 + (minute % 19)) + (minute % 97) + 12,
  };
}

function composeParent(parent: Post): Status['replying_to'] {
  const screenName = parent.author?.screen_name ?? null;
  return { screen_name: screenName, status: parent.id, url: parent.url };
}

function composePoll(draft: PollDraft): Poll {
  const votes = draft.choices.map(([, count]) => count);
  const hidden = votes.includes(null);
  const total = votes.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return {
    choices: draft.choices.map(([label, count]) => ({
      label,
      count,
      percentage: count === null ? null : Math.round((count * 1000) / Math.max(total, 1)) / 10,
    })),
    total_votes: hidden ? null : total,
    ends_at: toIsoSeconds(Date.parse(draft.endsAt)),
  };
}

function toUrl(author: AuthorName, id: string): string {
  return postUrl({ platform: 'sample', handle: `${author}.example`, id }, ownAddress);
}

function take<Key extends string, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new Error(`The sample names ${key} before it is there.`);
  return value;
}

function tally(keys: readonly (string | undefined)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
