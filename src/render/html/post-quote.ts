import type { Account } from '../../model/account.ts';
import type { Article } from '../../model/article.ts';
import type { Media } from '../../model/media.ts';
import type { Card, Poll, Post, Status, Tombstone } from '../../model/post.ts';
import { toLine } from '../markdown/characters.ts';
import { escapeLine } from './escape.ts';
import { describeChoices, describeMedia, describeMinute, describeVotes } from './labels.ts';
import { link } from './links.ts';
import { renderParagraphs } from './text.ts';

/**
 * Renders a post as one `blockquote` of a few plain elements, whose only attributes are `href` and
 * `rel` of links and `lang` and `dir` of texts. It loads nothing: media are links. Everything from
 * upstream is escaped text or an http, https or mailto URL. Well formed as XML too, since oEmbed
 * 1.0 §2.3.4.4 asks for XHTML Basic; `del` and `dir` are beyond that.
 */
export function renderPostQuote(post: Post): string {
  return renderAt(post, 0);
}

/** Quotes within quotes deeper than this are links. */
const maxQuoteDepth = 3;

function renderAt(post: Post, depth: number): string {
  if (post.type === 'tombstone') return renderTombstone(post);
  if (depth > maxQuoteDepth)
    return quoteBlock([`<p dir="auto">Quotes ${renderSignature(post)}</p>`]);
  return quoteBlock([
    renderOrigin(post),
    post.content_warning === null ? '' : renderWarning(post.content_warning),
    renderParagraphs(post.text, post.facets, post.lang),
    post.tags === undefined ? '' : renderTags(post.tags),
    post.possibly_sensitive ? '<p dir="auto"><em>Marked as sensitive content.</em></p>' : '',
    renderMedia(post.media.all),
    post.poll === null ? '' : renderPoll(post.poll),
    post.article === null ? '' : renderArticle(post.article, post.url),
    post.card === null ? '' : renderCard(post.card),
    post.quote === null ? '' : renderAt(post.quote, depth + 1),
    post.community_note === null ? '' : renderNote(post.community_note),
    `<p dir="auto">— ${renderSignature(post)}</p>`,
  ]);
}

function quoteBlock(parts: readonly string[]): string {
  return `<blockquote dir="auto">\n${parts.filter((part) => part !== '').join('\n')}\n</blockquote>`;
}

function renderTombstone({ text, url, author }: Tombstone): string {
  const signature = author === null ? '' : `<p dir="auto">— ${nameAuthor(author)}</p>`;
  return quoteBlock([`<p dir="auto">${link(text, url)}</p>`, signature]);
}

function renderSignature(post: Status): string {
  const { author, created_at, edited_at, url } = post;
  const edited = edited_at === undefined ? '' : `, edited ${escapeLine(describeMinute(edited_at))}`;
  const written = link(describeMinute(created_at), url);
  return `${nameAuthor(author)}, ${written}${edited}${renderCopy(post)}`;
}

function renderCopy({ copied_from: source }: Status | Account): string {
  return source === undefined ? '' : `, copied from ${link(source.host, source.url)}`;
}

function nameAuthor(author: Account): string {
  const name = escapeLine(author.name);
  const handle = link(`@${author.screen_name}`, author.url);
  return name === '' ? handle : `${name} (${handle})`;
}

/** Says who passed a post on and what it answers. */
function renderOrigin({ reposted_by: reposter, replying_to: target, community }: Status): string {
  const handle = target?.screen_name ?? null;
  const answered = handle === null ? 'another post' : `@${handle}`;
  return [
    reposter === null ? [] : `Reposted by ${nameAuthor(reposter)}${renderCopy(reposter)}`,
    community === undefined ? [] : `In ${link(community.name, community.url)}`,
    target === null ? [] : `In reply to ${link(answered, target.url)}`,
  ]
    .flat()
    .map((origin) => `<p dir="auto"><em>${origin}</em></p>`)
    .join('\n');
}

function renderTags(tags: readonly string[]): string {
  return `<p dir="auto">Tags: ${escapeLine(tags.map((tag) => `#${tag}`).join(' '))}</p>`;
}

function renderWarning(warning: string): string {
  return `<p dir="auto"><strong>Content warning:</strong> ${escapeLine(warning)}</p>`;
}

function renderCard(card: Card): string {
  const { url, title, description, provider_name: site, author_name: author, author_url } = card;
  const name = `<p dir="auto"><strong>${link(toLine(title) || url, url)}</strong></p>`;
  const source = [
    ...(site === undefined ? [] : [escapeLine(site)]),
    ...(author === undefined ? [] : [`by ${link(author, author_url ?? null)}`]),
  ].join(' · ');
  const about = renderParagraphs(description ?? '', []);
  return quoteBlock([name, about, source === '' ? '' : `<p dir="auto">${source}</p>`]);
}

function renderMedia(all: readonly Media[]): string {
  return renderList(describeMedia(all).map((label, at) => link(label, all[at]?.url ?? null)));
}

function renderPoll(poll: Poll): string {
  const votes = describeVotes(poll);
  const choices = renderList(describeChoices(poll).map(escapeLine));
  return votes === '' ? choices : `${choices}\n<p dir="auto">${escapeLine(votes)}</p>`;
}

function renderList(items: readonly string[]): string {
  if (items.length === 0) return '';
  return `<ul>\n${items.map((item) => `<li dir="auto">${item}</li>`).join('\n')}\n</ul>`;
}

function renderArticle(article: Article, url: string): string {
  const title = toLine(article.title) || 'Article';
  const preview = article.preview_text ?? '';
  return [`<p dir="auto"><strong>${link(title, url)}</strong></p>`, renderParagraphs(preview, [])]
    .filter((part) => part !== '')
    .join('\n');
}

function renderNote(note: string): string {
  return quoteBlock([
    '<p dir="auto"><strong>Community note</strong></p>',
    renderParagraphs(note, []),
  ]);
}
