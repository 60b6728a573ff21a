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
import { isReplyTargetElsewhere, isSameAccount, type Thread } from './thread.ts';

/** Options for rendering the content of a post. */
export interface PostView {
  /** Whether to add exact times, all counts, the language and the name of the posting application. */
  readonly full: boolean;
  /** Time when the posts were fetched: ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** Level of Markdown headings within a post, such as the title of an article. */
  readonly level: number;
  /** Whether the page's title is the title of the post's article. If so, the article is rendered without a title. */
  readonly isTitledByArticle: boolean;
  readonly articles: ArticleView['extent'];
}

interface BlockContext {
  readonly thread: Thread;
  /**
   * Account whose profile page is rendered; `null` on other pages. Posts by this account are shown
   * without the author's name.
   */
  readonly owner: Account | null;
  /** Position in a thread by one author, such as `2/5`; `null` for other posts. */
  readonly position: string | null;
  /** Whether to label the post as `requested post`. */
  readonly isRequested: boolean;
  readonly level: number;
}

/** Renders a post as Markdown: a heading with the author, time and position in a thread, then the content. */
export function renderPostBlock(
  post: Post,
  context: BlockContext,
  options: Pick<PostView, 'full' | 'fetchedAt' | 'articles'>,
): string {
  const facts = [context.position, context.isRequested ? '*requested post*' : null];
  const title = joinFacts([...headingOf(post, context.owner), ...facts]);
  const heading = `${'#'.repeat(context.level)} ${title}`;
  if (post.type === 'tombstone') return joinBlocks([heading, renderTombstone(post)]);
  const view: PostView = { ...options, level: context.level + 1, isTitledByArticle: false };
  return joinBlocks([
    heading,
    renderOrigin(post, context),
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

/**
 * Renders the lines “Reposted by”, “In” (community) and “In reply to” of a post. Omits “In reply to” if the
 * replied-to post is part of `thread`.
 */
export function renderOrigin(
  post: Status,
  context: Pick<BlockContext, 'thread' | 'owner'>,
): string {
  return joinBlocks([
    describeReposter(post.reposted_by, context.owner),
    post.community === undefined ? null : `*In ${link(post.community.name, post.community.url)}*`,
    isReplyTargetElsewhere(post, context.thread) ? `*${describeTarget(post.replying_to)}*` : null,
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

const maxQuoteDepth = 3; // maximum depth of nested quotes; deeper quotes become links

/** Renders the content of a post: text, media, poll, article, link card, quoted post and community note. */
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
    renderNote(post),
    ...renderEarlier(post, full),
  ]);
}

function renderNote(post: Status): string | null {
  const { community_note: note, community_note_facets: facets = [] } = post;
  return note === null ? null : quoteBlock(`**Community note:** ${renderText(note, facets)}`);
}

/** Renders the texts before edits; nothing if `full` is not set. */
const renderEarlier = ({ earlier_versions: versions = [] }: Status, full: boolean): string[] =>
  (full ? versions : []).map(({ text, created_at }) =>
    quoteBlock(`**Before an edit, ${formatMinute(created_at)}:** ${renderText(text, [])}`),
  );

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

/** Renders the placeholder for an unavailable post: a quote of one line with the reason. */
export const renderTombstone = (tombstone: Tombstone): string =>
  quoteBlock(link(tombstone.text, tombstone.url));

/**
 * Returns the parts of a heading in Markdown: the time of a post as a link, the time of its last edit, the time at
 * which the platform first saw the post, and a link to the server from which the post was copied. An absent item is `null`.
 */
export function originOf(post: Status): readonly (string | null)[] {
  const { created_at, edited_at, indexed_at, url } = post;
  const edited = edited_at === undefined ? null : `edited ${formatMinute(edited_at)}`;
  const seen = indexed_at === undefined ? null : `first seen ${formatMinute(indexed_at)}`;
  return [link(formatMinute(created_at), url), edited, seen, linkCopy(post)];
}

/**
 * Renders the numbers of replies, reposts, likes and views of a post on one line, without numbers that are 0. If
 * `full` is set, also renders numbers that are 0, the post's time and other details, such as the language.
 */
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

/** Renders a poll as a table with the votes and the end time. A poll that ended by `fetchedAt` is shown as closed. */
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
