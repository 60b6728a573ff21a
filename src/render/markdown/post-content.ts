import type { Card, Poll, Post, Reaction, Status, Tombstone } from '../../model/post.ts';
import { linkAccount } from './accounts.ts';
import { type ArticleExtent, renderArticle } from './article.ts';
import { toLine } from './characters.ts';
import { linkCopy } from './copies.ts';
import { escapeCell, escapeInline, escapeLine } from './escape.ts';
import { formatCount, formatMinute, formatNumber } from './figures.ts';
import { joinBlocks, joinFacts, quoteBlock } from './layout.ts';
import { link } from './links.ts';
import { renderMedia } from './media.ts';
import { renderLine, renderText } from './text.ts';

/** How posts stand on a page. */
export interface PostView {
  /** True adds exact times, metrics, the language and the client. */
  readonly full: boolean;
  /** When the posts were read: ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** The level of headings within a post, such as an article's title. */
  readonly level: number;
  /** True if the page has the title of the post's article as its own, so that the article does not repeat it. */
  readonly isTitledByArticle: boolean;
  /** How much is shown of an article that a post carries. */
  readonly articles: ArticleExtent;
}

/** Gives what a post holds, from its text to its community note. */
export function renderContent(post: Status, view: PostView): string {
  return renderContentAt(post, view, 0);
}

/** Quotes within quotes deeper than this are links. */
const maxQuoteDepth = 3;

function renderContentAt(post: Status, view: PostView, depth: number): string {
  const hasTitle = depth > 0 || !view.isTitledByArticle;
  const { level, full, articles: extent } = view;
  const articleView = { level, hasTitle, full, extent };
  return joinBlocks([
    post.content_warning === null ? null : renderWarning(post.content_warning),
    renderText(post.text, post.facets),
    post.tags === undefined ? null : renderTags(post.tags),
    post.possibly_sensitive ? '*Marked as sensitive content.*' : null,
    ...renderMedia(post.media.all, view.full),
    post.poll === null ? null : renderPoll(post.poll, view.fetchedAt),
    post.article === null ? null : renderArticle(post.article, articleView),
    post.card === null ? null : renderCard(post.card),
    post.quote === null ? null : renderQuote(post.quote, view, depth + 1),
    post.community_note === null ? null : renderNote(post.community_note),
  ]);
}

function renderWarning(warning: string): string {
  return `**Content warning:** ${renderLine(warning)}`;
}

function renderTags(tags: readonly string[]): string {
  return `Tags: ${tags.map((tag) => escapeInline(`#${tag}`)).join(' ')}`;
}

function renderCard(card: Card): string {
  const { url, title, description } = card;
  const name = `**${link(toLine(title) || url, url)}**`;
  const about = description === null ? null : renderLine(description);
  return quoteBlock(joinBlocks([name, about, describeSource(card)]));
}

function describeSource({ provider_name: site, author_name: author, author_url }: Card): string {
  return joinFacts([
    site === undefined ? null : escapeLine(site),
    author === undefined ? null : `by ${link(author, author_url ?? null)}`,
  ]);
}

function renderQuote(quote: Post, view: PostView, depth: number): string {
  if (quote.type === 'tombstone') return renderTombstone(quote);
  const header = joinFacts([linkAccount(quote.author, '**'), ...originOf(quote)]);
  if (depth > maxQuoteDepth) return quoteBlock(`Quotes ${header}`);
  return quoteBlock(
    joinBlocks([
      header,
      renderContentAt(quote, view, depth),
      view.full ? renderFacts(quote, view) : null,
    ]),
  );
}

/** Gives what stands in place of a post: a quote of one line that says what is missing and why. */
export function renderTombstone(tombstone: Tombstone): string {
  return quoteBlock(link(tombstone.text, tombstone.url));
}

/** Returns when a post was written, as a link to it, when it was edited, and where it was copied from. */
export function originOf(post: Status): readonly (string | null)[] {
  const { created_at, edited_at, url } = post;
  const edited = edited_at === undefined ? null : `edited ${formatMinute(edited_at)}`;
  return [link(formatMinute(created_at), url), edited, linkCopy(post)];
}

function renderNote(note: string): string {
  return quoteBlock(`**Community note:** ${renderText(note, [])}`);
}

function describeReactions(reactions: readonly Reaction[]): string {
  const counts = reactions.map(({ name, count }) => `${escapeInline(name)} ${formatNumber(count)}`);
  return `reactions: ${counts.join(', ')}`;
}

/**
 * Returns how a post was received on one line. A compact view has the replies, reposts, likes and views that
 * are not 0; the full one adds the exact time, all other counts, the language and the client.
 */
export function renderFacts(post: Status, view: PostView): string {
  return view.full ? renderAllFacts(post) : renderReception(post);
}

function renderReception({ replies, reposts, likes, views }: Status): string {
  return joinFacts([
    formatCount(replies || null, 'reply', 'replies'),
    formatCount(reposts || null, 'repost', 'reposts'),
    formatCount(likes || null, 'like', 'likes'),
    formatCount(views || null, 'view', 'views'),
  ]);
}

function renderAllFacts(post: Status): string {
  return joinFacts([
    escapeLine(post.created_at),
    formatCount(post.replies, 'reply', 'replies'),
    formatCount(post.reposts, 'repost', 'reposts'),
    formatCount(post.likes, 'like', 'likes'),
    formatCount(post.quotes, 'quote', 'quotes'),
    formatCount(post.bookmarks, 'bookmark', 'bookmarks'),
    formatCount(post.views, 'view', 'views'),
    post.reactions === undefined ? null : describeReactions(post.reactions),
    post.lang === null ? null : `language ${escapeInline(post.lang)}`,
    post.source === null ? null : `via ${escapeInline(post.source)}`,
  ]);
}

/** Gives a poll as a table, and below it its votes and its end as seen at `fetchedAt` (ISO 8601). */
function renderPoll(poll: Poll, fetchedAt: string): string {
  const rows = poll.choices.map(({ label, count, percentage }) => {
    const votes = count === null ? '–' : formatNumber(count);
    const share = percentage === null ? '–' : `${percentage.toFixed(1)}%`;
    return `| ${escapeCell(label)} | ${votes} | ${share} |`;
  });
  const table = ['| Choice | Votes | Share |', '| --- | ---: | ---: |', ...rows].join('\n');
  const votes = formatCount(poll.total_votes, 'vote', 'votes');
  const voters = formatCount(poll.total_voters ?? null, 'voter', 'voters');
  const end = poll.ends_at === null ? null : describeEnd(poll.ends_at, fetchedAt);
  return joinBlocks([table, joinFacts([votes, voters, end])]);
}

function describeEnd(endsAt: string, fetchedAt: string): string {
  const isClosed = Date.parse(endsAt) <= Date.parse(fetchedAt);
  return `${isClosed ? 'closed' : 'closes'} ${formatMinute(endsAt)}`;
}
