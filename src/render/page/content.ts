import type { Steps } from '../../core/scheduling/slices.ts';
import type { Card, Poll, Post, Status, Tombstone } from '../../model/post.ts';
import { escapeLine } from '../html/escape.ts';
import { hidesPictures } from '../html/pictures.ts';
import { renderParagraphs } from '../html/text.ts';
import { toLine } from '../markdown/characters.ts';
import { formatCount, formatNumber } from '../markdown/layout.ts';
import { renderAuthor, renderOrigin } from './accounts.ts';
import { renderArticle } from './article.ts';
import { joinFacts, joinParts, paragraph, renderList, renderTime } from './markup.ts';
import { renderMedia, renderPicture } from './media.ts';
import { type PageView, withoutPictures } from './view.ts';

/** Options for rendering a post's content that depend on the place of the post on the page. */
interface ContentPlace {
  /** Heading level of headings within the post, such as the title of an article. */
  readonly level: number;
  /** Whether the page's title is already the title of the post's article. */
  readonly isTitledByArticle: boolean;
  readonly articles: 'whole' | 'preview';
}

const maxQuoteDepth = 3; // maximum depth of nested quotes; deeper quotes become links

/** Renders the content of a post: text, media, poll, article, link card, quoted post and community note. */
export function* renderContent(
  post: Status,
  place: ContentPlace,
  view: PageView,
  depth = 0,
): Steps<string> {
  const { content_warning: warning, tags, article } = post;
  const options = { lang: post.lang, toLinkTags: view.links.toTags };
  const { level, articles: extent } = place;
  const own = hidesPictures(post) ? withoutPictures(view) : view;
  return joinParts([
    warning === null
      ? null
      : paragraph(`<strong>Content warning:</strong> ${escapeLine(warning)}`, 'warning'),
    renderParagraphs(post.text, post.facets, options),
    tags === undefined
      ? null
      : paragraph(`Tags: ${escapeLine(tags.map((tag) => `#${tag}`).join(' '))}`),
    post.possibly_sensitive ? paragraph('<em>Marked as sensitive content.</em>') : null,
    renderMedia(post.media.all, own),
    post.poll === null ? null : renderPoll(post.poll, view),
    article === null
      ? null
      : yield* renderArticle(
          article,
          { level, isTitled: depth === 0 && place.isTitledByArticle, extent },
          own,
        ),
    post.card === null ? null : renderCard(post.card, own),
    post.quote === null ? null : yield* renderQuote(post.quote, place, view, depth + 1),
    renderNote(post, view),
    renderEarlier(post, view),
  ]);
}

function renderNote(post: Status, { links }: PageView): string | null {
  const { community_note: note, community_note_facets: facets = [] } = post;
  if (note === null) return null;
  return `<div class="note">\n${joinParts([
    paragraph('<strong>Community note</strong>'),
    renderParagraphs(note, facets, { toLinkTags: links.toTags }),
  ])}\n</div>`;
}

/** Renders the texts before edits; nothing if `full` is not set. */
function renderEarlier({ earlier_versions: versions = [] }: Status, view: PageView): string {
  const shown = view.full ? versions : [];
  return joinParts(
    shown.map(({ text, created_at }) =>
      quoteBlock(
        joinParts([
          paragraph(`<strong>Before an edit</strong> · ${renderTime(created_at)}`),
          renderParagraphs(text, [], { toLinkTags: view.links.toTags }),
        ]),
      ),
    ),
  );
}

function renderPoll(poll: Poll, { fetchedAt }: PageView): string {
  const choices = poll.choices.map(({ label, count, percentage }) => {
    const share = percentage === null ? null : `${percentage.toFixed(1)}%`;
    const facts = joinFacts([share, formatCount(count, 'vote', 'votes')]);
    const value = facts === '' ? '' : ` <span class="share">${facts}</span>`;
    return `<bdi>${escapeLine(label)}</bdi>${value}${renderBar(percentage)}`;
  });
  const isClosed = Date.parse(poll.ends_at ?? '') <= Date.parse(fetchedAt);
  const facts = joinFacts([
    formatCount(poll.total_votes, 'vote', 'votes'),
    formatCount(poll.total_voters ?? null, 'voter', 'voters'),
    poll.ends_at && `${isClosed ? 'closed' : 'closes'} ${renderTime(poll.ends_at)}`,
  ]);
  return `<div class="poll">\n${joinParts([renderList(choices), paragraph(facts, 'facts')])}\n</div>`;
}

/**
 * Renders a bar whose length is a poll choice's percentage of the votes; an empty string if the
 * percentage is unknown.
 */
function renderBar(percentage: number | null): string {
  if (percentage === null || !Number.isFinite(percentage)) return '';
  const width = Math.min(100, Math.max(0, percentage)).toFixed(1);
  return `<svg class="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="1"></rect></svg>`;
}

function renderCard(card: Card, view: PageView): string {
  const {
    url,
    title,
    description,
    provider_name: site,
    author_name: author,
    image_url: image,
  } = card;
  const { links } = view;
  const name = toLine(title) || url;
  // A picture that this server cannot show is left out, because the card already has a link.
  const source = image === null ? null : view.toPictureUrl(image);
  const label = card.image_alt ?? name;
  const size = { width: null, height: null };
  return `<div class="card">\n${joinParts([
    image === null || source === null
      ? null
      : paragraph(renderPicture({ url: image, target: url, label, ...size }, view), 'figure'),
    paragraph(`<strong>${links.link(name, url)}</strong>`),
    renderParagraphs(description ?? '', [], { toLinkTags: links.toTags }),
    paragraph(
      joinFacts([
        site === undefined ? null : escapeLine(site),
        author === undefined ? null : `by ${links.link(author, card.author_url ?? null)}`,
      ]),
      'facts',
    ),
  ])}\n</div>`;
}

function* renderQuote(
  quote: Post,
  place: ContentPlace,
  view: PageView,
  depth: number,
): Steps<string> {
  if (quote.type === 'tombstone') return renderTombstone(quote, view);
  const author = renderAuthor(quote.author, view);
  const facts = joinFacts(describeTimes(quote, view));
  if (depth > maxQuoteDepth) return quoteBlock(paragraph(`Quotes ${joinFacts([author, facts])}`));
  return quoteBlock(
    joinParts([
      paragraph(`<strong>${author}</strong>`),
      paragraph(facts, 'facts'),
      yield* renderContent(quote, place, view, depth),
      view.full ? paragraph(describeCounts(quote, view), 'facts') : null,
    ]),
  );
}

const quoteBlock = (html: string) =>
  `<blockquote class="quoted" dir="auto">\n${html}\n</blockquote>`;

/** Renders the placeholder for an unavailable post. */
export const renderTombstone = ({ text, url }: Tombstone, { links }: PageView): string =>
  `<blockquote dir="auto">\n${paragraph(links.link(text, url))}\n</blockquote>`;

/**
 * Returns the time of a post as a link, the time of its last edit, and a link to the server from
 * which it was copied; `null` in place of each absent value.
 */
export function describeTimes(post: Status, { links }: PageView): readonly (string | null)[] {
  const [open, close] = links.toTags(post.url);
  const { edited_at: edited, indexed_at: indexed } = post;
  return [
    `${open}${renderTime(post.created_at)}${close}`,
    edited === undefined ? null : `edited ${renderTime(edited)}`,
    indexed === undefined ? null : `first seen ${renderTime(indexed)}`,
    renderOrigin(post, links),
  ];
}

/**
 * Returns the replies, reposts, likes and views of a post on one line. If `full` is set, also returns zeros, the
 * time and other details, such as the language.
 */
export function describeCounts(post: Status, { full }: PageView): string {
  const known = (count: number | null) => (full ? count : count || null);
  const more = (fact: string | null) => (full ? fact : null);
  const reactions = (post.reactions ?? []).map(
    ({ name, count }) => `${escapeLine(name)} ${formatNumber(count)}`,
  );
  return joinFacts([
    more(escapeLine(post.created_at)),
    formatCount(known(post.replies), 'reply', 'replies'),
    formatCount(known(post.reposts), 'repost', 'reposts'),
    formatCount(known(post.likes), 'like', 'likes'),
    more(formatCount(post.quotes, 'quote', 'quotes')),
    more(formatCount(post.bookmarks, 'bookmark', 'bookmarks')),
    formatCount(known(post.views), 'view', 'views'),
    more(reactions.length === 0 ? null : `reactions: ${reactions.join(', ')}`),
    more(post.lang === null ? null : `language ${escapeLine(post.lang)}`),
    more(post.source === null ? null : `via ${escapeLine(post.source)}`),
  ]);
}
