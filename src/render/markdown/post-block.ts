import type { Account } from '../../model/account.ts';
import type { Card, Poll, Post, Reaction, Status, Tombstone } from '../../model/post.ts';
import { linkAccount, linkCopy } from './accounts.ts';
import { type ArticleView, renderArticle } from './article.ts';
import { toLine } from './characters.ts';
import { escapeCell, escapeInline, escapeLine } from './escape.ts';
import {
  formatCount,
  formatMinute,
  formatNumber,
  joinBlocks,
  joinFacts,
  quoteBlock,
} from './layout.ts';
import { link } from './links.ts';
import { renderMedia } from './media.ts';
import { renderLine, renderText } from './text.ts';
import { answersElsewhere, isSameAccount, type Thread } from './thread.ts';

/** How posts are shown on a page. */
export interface PostView {
  /** True adds exact times, metrics, the language and the client. */
  readonly full: boolean;
  /** When the posts were read: ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** The level of headings within a post, such as an article's title. */
  readonly level: number;
  /** True if the page has the title of the post's article as its own, so that the article does not repeat it. */
  readonly isTitledByArticle: boolean;
  readonly articles: ArticleView['extent'];
}

interface BlockPlace {
  readonly thread: Thread;
  /** The account that the page is about, which is not named with each of its posts; else `null`. */
  readonly owner: Account | null;
  /** `2/5` in a thread by one author. */
  readonly position: string | null;
  /** True marks the post as the requested one. */
  readonly isMarked: boolean;
  /** The level of its heading. */
  readonly level: number;
}

/** Returns a post of several as a block under a heading with its author, its time, and its place in a thread. */
export function renderPostBlock(
  post: Post,
  place: BlockPlace,
  options: Pick<PostView, 'full' | 'fetchedAt' | 'articles'>,
): string {
  const facts = [place.position, place.isMarked ? '*requested post*' : null];
  const title = joinFacts([...headingOf(post, place.owner), ...facts]);
  const heading = `${'#'.repeat(place.level)} ${title}`;
  if (post.type === 'tombstone') return joinBlocks([heading, renderTombstone(post)]);
  const view: PostView = { ...options, level: place.level + 1, isTitledByArticle: false };
  return joinBlocks([
    heading,
    renderOrigin(post, place),
    renderContent(post, view),
    renderFacts(post, view),
  ]);
}

function headingOf(post: Post, owner: Account | null): readonly (string | null)[] {
  const { author } = post;
  const who = author === null || isSameAccount(author, owner) ? null : linkAccount(author);
  if (post.type === 'status') return [who, ...originOf(post)];
  return who === null ? ['Unavailable post'] : [who, 'unavailable'];
}

/** Returns the reposter, the community and the answered post, as far as the page does not show them. */
export function renderOrigin(post: Status, place: Pick<BlockPlace, 'thread' | 'owner'>): string {
  return joinBlocks([
    describeReposter(post.reposted_by, place.owner),
    post.community === undefined ? null : `*In ${link(post.community.name, post.community.url)}*`,
    answersElsewhere(post, place.thread) ? `*${describeTarget(post.replying_to)}*` : null,
  ]);
}

function describeReposter(reposter: Account | null, owner: Account | null): string | null {
  if (reposter === null) return null;
  const { screen_name: handle, url } = reposter;
  const who = isSameAccount(reposter, owner) ? link(`@${handle}`, url) : linkAccount(reposter);
  return `*${joinFacts([`Reposted by ${who}`, linkCopy(reposter)])}*`;
}

function describeTarget(target: Status['replying_to']): string {
  const handle = target?.screen_name ?? null;
  const text = handle === null ? 'another post' : `@${handle}`;
  return `In reply to ${link(text, target?.url ?? null)}`;
}

/** Quotes within quotes deeper than this are links. */
const maxQuoteDepth = 3;

/** Returns the content of a post, from its text to its community note. */
export function renderContent(post: Status, view: PostView, depth = 0): string {
  const { level, full, articles: extent } = view;
  const articleView = { level, hasTitle: depth > 0 || !view.isTitledByArticle, full, extent };
  return joinBlocks([
    post.content_warning === null
      ? null
      : `**Content warning:** ${renderLine(post.content_warning)}`,
    renderText(post.text, post.facets),
    post.tags === undefined
      ? null
      : `Tags: ${post.tags.map((tag) => escapeInline(`#${tag}`)).join(' ')}`,
    post.possibly_sensitive ? '*Marked as sensitive content.*' : null,
    ...renderMedia(post.media.all, view.full),
    post.poll === null ? null : renderPoll(post.poll, view.fetchedAt),
    post.article === null ? null : renderArticle(post.article, articleView),
    post.card === null ? null : renderCard(post.card),
    post.quote === null ? null : renderQuote(post.quote, view, depth + 1),
    post.community_note === null
      ? null
      : quoteBlock(`**Community note:** ${renderText(post.community_note, [])}`),
  ]);
}

function renderCard(card: Card): string {
  const { url, title, description, provider_name: site, author_name: author } = card;
  return quoteBlock(
    joinBlocks([
      `**${link(toLine(title) || url, url)}**`,
      description === null ? null : renderLine(description),
      joinFacts([
        site === undefined ? null : escapeLine(site),
        author === undefined ? null : `by ${link(author, card.author_url ?? null)}`,
      ]),
    ]),
  );
}

function renderQuote(quote: Post, view: PostView, depth: number): string {
  if (quote.type === 'tombstone') return renderTombstone(quote);
  const header = joinFacts([linkAccount(quote.author, '**'), ...originOf(quote)]);
  if (depth > maxQuoteDepth) return quoteBlock(`Quotes ${header}`);
  const facts = view.full ? renderFacts(quote, view) : null;
  return quoteBlock(joinBlocks([header, renderContent(quote, view, depth), facts]));
}

/** Returns the placeholder of a post that cannot be shown: a quote of one line with the reason. */
export const renderTombstone = (tombstone: Tombstone): string =>
  quoteBlock(link(tombstone.text, tombstone.url));

/** Returns when a post was written, as a link to it, when it was edited, and where it was copied from. */
export function originOf(post: Status): readonly (string | null)[] {
  const { created_at, edited_at, url } = post;
  const edited = edited_at === undefined ? null : `edited ${formatMinute(edited_at)}`;
  return [link(formatMinute(created_at), url), edited, linkCopy(post)];
}

/** Returns the counts of a post on one line. A compact view has fewer, and none that is 0. */
export function renderFacts(post: Status, { full }: PostView): string {
  const known = (count: number | null) => (full ? count : count || null);
  const more = (fact: string | null) => (full ? fact : null);
  return joinFacts([
    more(escapeLine(post.created_at)),
    formatCount(known(post.replies), 'reply', 'replies'),
    formatCount(known(post.reposts), 'repost', 'reposts'),
    formatCount(known(post.likes), 'like', 'likes'),
    more(formatCount(post.quotes, 'quote', 'quotes')),
    more(formatCount(post.bookmarks, 'bookmark', 'bookmarks')),
    formatCount(known(post.views), 'view', 'views'),
    more(post.reactions === undefined ? null : describeReactions(post.reactions)),
    more(post.lang === null ? null : `language ${escapeInline(post.lang)}`),
    more(post.source === null ? null : `via ${escapeInline(post.source)}`),
  ]);
}

function describeReactions(reactions: readonly Reaction[]): string {
  const counts = reactions.map(({ name, count }) => `${escapeInline(name)} ${formatNumber(count)}`);
  return `reactions: ${counts.join(', ')}`;
}

/** Returns a poll as a table, and below it its votes and its end as seen at `fetchedAt` (ISO 8601). */
function renderPoll(poll: Poll, fetchedAt: string): string {
  const rows = poll.choices.map(({ label, count, percentage }) => {
    const votes = count === null ? '–' : formatNumber(count);
    const share = percentage === null ? '–' : `${percentage.toFixed(1)}%`;
    return `| ${escapeCell(label)} | ${votes} | ${share} |`;
  });
  const table = ['| Choice | Votes | Share |', '| --- | ---: | ---: |', ...rows].join('\n');
  const votes = formatCount(poll.total_votes, 'vote', 'votes');
  const voters = formatCount(poll.total_voters ?? null, 'voter', 'voters');
  const isClosed = Date.parse(poll.ends_at ?? '') <= Date.parse(fetchedAt);
  const end = poll.ends_at && `${isClosed ? 'closed' : 'closes'} ${formatMinute(poll.ends_at)}`;
  return joinBlocks([table, joinFacts([votes, voters, end])]);
}
