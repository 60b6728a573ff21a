import { type Account, toAccount } from '../../model/account.ts';
import type { Article } from '../../model/article.ts';
import type { Status } from '../../model/post.ts';
import { profileUrl } from '../../model/reference.ts';
import { findLeftOut, nameLeftOut } from '../bound-post.ts';
import { toCreated } from '../times.ts';
import { enlargeAvatar, toReplyingTo, xPostUrl } from '../x.ts';
import { shapeCard } from './card.ts';
import { cleanText } from './clean-text.ts';
import { shapeMedia } from './media.ts';
import { type PostPayload, parsePost, type UserPayload } from './payload.ts';
import { shapePoll } from './poll.ts';

/** Gives the post that a payload describes, with its quote. `context` is null. */
export function shapePost(row: PostPayload): Status {
  const quote = parsePost(row.quoted_tweet);
  return { ...shapeAlone(row, quote), quote: quote === null ? null : shapeAlone(quote, null) };
}

/** X counts and quotes one level deep only, so the quote of a quote is left out. */
function shapeAlone(row: PostPayload, quote: PostPayload | null): Status {
  const status: Status = {
    type: 'status',
    id: row.id_str,
    url: xPostUrl(row.user.screen_name, row.id_str),
    ...cleanText(row, quote?.id_str ?? null),
    ...toCreated(row.createdMs),
    author: shapeAccount(row.user),
    lang: row.lang !== null && !pseudoLanguage.test(row.lang) ? row.lang : null,
    // `conversation_count` counts all below the post, so it is not the number of replies.
    replies: row.reply_count,
    reposts: row.retweet_count,
    likes: row.favorite_count,
    quotes: null,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: row.possibly_sensitive ?? false,
    replying_to: toReplyingTo(row.in_reply_to_screen_name, row.in_reply_to_status_id_str),
    quote: null,
    reposted_by: null,
    media: shapeMedia(row.mediaDetails),
    poll: shapePoll(row.card),
    article: row.article === null ? null : shapeArticle(row.article),
    content_warning: null,
    card: shapeCard(row),
    community_note: null,
    context: null,
    platform: 'x',
  };
  return nameLeftOut(status, leftOutOf(row));
}

function leftOutOf({ entities, mediaDetails }: PostPayload): readonly string[] {
  const { urls, hashtags, symbols, user_mentions } = entities ?? {};
  return findLeftOut({
    facets: [urls, hashtags, symbols, user_mentions],
    media: [mediaDetails, ...mediaDetails.map(({ video_info }) => video_info?.variants)],
  });
}

/** What X says of a text without words: `und`, `zxx`, `qme` and their like. */
const pseudoLanguage = /^(?:und|zxx|q[a-z]{2})$/;

function shapeAccount(user: UserPayload): Account {
  return toAccount({
    id: user.id_str,
    screen_name: user.screen_name,
    name: user.name ?? user.screen_name,
    url: profileUrl('x', user.screen_name, ''),
    avatar_url: enlargeAvatar(user.profile_image_url_https),
    verification: shapeVerification(user),
    platform: 'x',
  });
}

const verifiedTypes: ReadonlyMap<string, string> = new Map([
  ['Business', 'organization'],
  ['Government', 'government'],
]);

function shapeVerification(user: UserPayload): Account['verification'] {
  const type =
    verifiedTypes.get(user.verified_type ?? '') ??
    (user.is_blue_verified === true ? 'individual' : null);
  return { verified: type !== null || user.verified === true, type };
}

function shapeArticle(article: NonNullable<PostPayload['article']>): Article {
  return {
    id: article.rest_id,
    title: article.title,
    preview_text: article.preview_text,
    cover_url: article.cover_media?.media_info.original_img_url ?? null,
    created_at: null,
    modified_at: null,
    blocks: [],
  };
}
