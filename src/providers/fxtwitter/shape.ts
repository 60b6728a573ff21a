import type { Poll } from '../../model/poll.ts';
import type { Post, Status, Tombstone } from '../../model/post.ts';
import { missingSentences } from '../failure.ts';
import { toCreated, toIsoTime } from '../times.ts';
import { toReplyingTo, xPostUrl } from '../x.ts';
import { shapeAccount } from './account.ts';
import { shapeArticle } from './article.ts';
import { shapeFacets } from './facets.ts';
import { shapeMedia } from './media.ts';
import {
  type PostPayload,
  parsePost,
  type StatusPayload,
  type TombstonePayload,
} from './payload.ts';

/** Quotes may quote in turn; X shows one of them, and a few are enough for a reader. */
const maxQuoteDepth = 3;

/** Gives the post, or what stands in its place, that a row describes. `context` is null. */
export function shapePost(row: PostPayload): Post {
  return row.type === 'tombstone' ? shapeTombstone(row) : shapeStatus(row);
}

/** Gives the post that a row describes, with up to three quotes within each other. */
export function shapeStatus(row: StatusPayload): Status {
  return shapeQuoting(row, maxQuoteDepth);
}

function shapeQuoting(row: StatusPayload, quotesLeft: number): Status {
  return {
    type: 'status',
    id: row.id,
    url: xPostUrl(row.author.screen_name, row.id),
    text: row.text,
    facets: shapeFacets(row.text, row.raw_text),
    ...toCreated(row.createdMs),
    author: shapeAccount(row.author),
    lang: row.lang,
    ...countsOf(row),
    source: row.source,
    possibly_sensitive: row.possibly_sensitive ?? false,
    replying_to: toReplyingTo(
      row.replying_to?.screen_name ?? null,
      row.replying_to?.status ?? row.replying_to_status,
    ),
    quote: quotesLeft > 0 ? shapeQuote(row.quote, quotesLeft - 1) : null,
    reposted_by: row.reposted_by === null ? null : shapeAccount(row.reposted_by),
    media: shapeMedia(row.media),
    poll: row.poll === null ? null : shapePoll(row.poll),
    article: row.article === null ? null : shapeArticle(row.article),
    community_note: row.community_note?.text ?? null,
    context: null,
    platform: 'x',
  };
}

function countsOf(row: StatusPayload) {
  return {
    replies: row.replies,
    reposts: row.reposts ?? row.retweets,
    likes: row.likes,
    quotes: row.quotes,
    bookmarks: row.bookmarks,
    views: row.views,
  };
}

/** A quote that cannot be read is there all the same, so a tombstone stands for it. */
function shapeQuote(row: unknown, quotesLeft: number): Post | null {
  if (row === undefined || row === null) return null;
  const quote = parsePost(row);
  if (quote?.type === 'status') return shapeQuoting(quote, quotesLeft);
  return shapeTombstone(
    quote ?? { type: 'tombstone', id: null, reason: 'unavailable', author: null },
  );
}

function shapeTombstone({ id, reason, author }: TombstonePayload): Tombstone {
  return {
    type: 'tombstone',
    id,
    url: id === null ? null : xPostUrl(author?.screen_name ?? null, id),
    text: missingSentences[reason],
    reason,
    author: author === null ? null : shapeAccount(author),
    context: null,
    platform: 'x',
  };
}

function shapePoll(poll: NonNullable<StatusPayload['poll']>): Poll {
  return {
    choices: poll.choices,
    total_votes: poll.total_votes,
    ends_at: toIsoTime(poll.ends_at),
  };
}
