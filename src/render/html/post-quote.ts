import type { Account } from '../../model/account.ts';
import type { Article } from '../../model/article.ts';
import type { Media } from '../../model/media.ts';
import type { Card, Poll, Post, Status, Tombstone } from '../../model/post.ts';
import type { RenderContext } from '../context.ts';
import { toLine } from '../markdown/characters.ts';
import { describeChoices, describeMedia, describeMinute, describeVotes } from '../summary.ts';
import { escapeHtml, escapeLine, link } from './escape.ts';
import { hidesPictures, pictureOf } from './pictures.ts';
import { renderParagraphs } from './text.ts';

interface QuoteOptions {
  /** Returns the URL of a picture on this server. If absent, media are rendered as links only. */
  readonly toPictureUrl?: RenderContext['toPictureUrl'] | undefined;
  /** Maximum width of a picture in pixels. */
  readonly pictureWidth?: number;
  /** Nesting level of the post: 0 for the outermost post, 1 for the post that it quotes, and so on. Default: 0. */
  readonly depth?: number;
}

/**
 * Renders a post as an HTML `blockquote` without scripts and styles. The HTML is well-formed XML, because oEmbed 1.0
 * §2.3.4.4 recommends XHTML Basic.
 */
export function renderPostQuote(post: Post, options: QuoteOptions = {}): string {
  const { depth = 0 } = options;
  if (post.type === 'tombstone') return renderTombstone(post);
  const signature = renderSignature(post);
  if (depth > maxQuoteDepth) return quoteBlock([paragraph(`Quotes ${signature}`)]);
  return quoteBlock([renderPostBody(post, options), paragraph(`— ${signature}`)]);
}

/** Renders the content of a post as HTML like `renderPostQuote`, without the `blockquote` and the signature. */
export function renderPostBody(post: Status, options: QuoteOptions = {}): string {
  const { depth = 0 } = options;
  return joinParts([
    renderOrigin(post),
    post.content_warning === null
      ? ''
      : paragraph(`<strong>Content warning:</strong> ${escapeLine(post.content_warning)}`),
    renderParagraphs(post.text, post.facets, { lang: post.lang }),
    post.tags === undefined
      ? ''
      : paragraph(`Tags: ${escapeLine(post.tags.map((tag) => `#${tag}`).join(' '))}`),
    post.possibly_sensitive ? paragraph('<em>Marked as sensitive content.</em>') : '',
    renderMedia(post, options),
    post.poll === null ? '' : renderPoll(post.poll),
    post.article === null ? '' : renderArticle(post.article, post.url),
    post.card === null ? '' : renderCard(post.card),
    post.quote === null ? '' : renderPostQuote(post.quote, { ...options, depth: depth + 1 }),
    post.community_note === null
      ? ''
      : quoteBlock([
          paragraph('<strong>Community note</strong>'),
          renderParagraphs(post.community_note, post.community_note_facets ?? []),
        ]),
  ]);
}

/**
 * Renders a list of links to the media of a post. Adds pictures, except for sensitive posts and
 * posts with a content warning.
 */
function renderMedia(post: Status, options: QuoteOptions): string {
  const { all } = post.media;
  const isHidden = hidesPictures(post);
  return renderList(
    describeMedia(all).map((label, at) => {
      const picture = isHidden ? '' : renderPicture(all[at], options);
      return `${picture}${link(label, all[at]?.url ?? null)}`;
    }),
  );
}

const defaultPictureWidth = 480; // pixels
const maxPictureHeight = 1000; // pixels; the size is a claim of the source

/** Returns the `img` element of a photo or of the still picture of a video; an empty string if there is none. */
function renderPicture(
  item: Media | undefined,
  { toPictureUrl, pictureWidth = defaultPictureWidth }: QuoteOptions,
): string {
  const [picture] = item === undefined ? [] : pictureOf(item);
  const address = picture && toPictureUrl?.(picture.url);
  if (!picture || !address) return '';
  const { alt, width, height } = picture;
  const start = `<img src="${escapeHtml(address)}" alt="${escapeLine(alt)}"`;
  if (width === null || height === null) return `${start} width="${pictureWidth}" /><br />`;
  const scale = Math.min(1, pictureWidth / width, maxPictureHeight / height);
  const [w, h] = [width, height].map((pixels) => Math.max(1, Math.round(pixels * scale)));
  return `${start} width="${w}" height="${h}" /><br />`;
}

const maxQuoteDepth = 3; // maximum depth of nested quotes; deeper quotes become links

const paragraph = (html: string) => (html === '' ? '' : `<p dir="auto">${html}</p>`);

const quoteBlock = (parts: readonly string[]): string =>
  `<blockquote dir="auto">\n${joinParts(parts)}\n</blockquote>`;

const joinParts = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n');

function renderTombstone({ text, url, author }: Tombstone): string {
  const signature = author === null ? '' : `— ${nameAuthor(author)}`;
  return quoteBlock([paragraph(link(text, url)), paragraph(signature)]);
}

function renderSignature(post: Status): string {
  const { author, created_at, edited_at, indexed_at, url } = post;
  const written = link(describeMinute(created_at), url);
  const times = [toFact('edited', edited_at), toFact('first seen', indexed_at)].join('');
  return `${nameAuthor(author)}, ${written}${times}${renderCopy(post)}`;
}

const toFact = (name: string, time: string | undefined): string =>
  time === undefined ? '' : `, ${name} ${escapeLine(describeMinute(time))}`;

const renderCopy = ({ copied_from: source }: Status | Account): string =>
  source === undefined ? '' : `, copied from ${link(source.host, source.url)}`;

function nameAuthor(author: Account): string {
  const name = escapeLine(author.name);
  const handle = link(`@${author.screen_name}`, author.url);
  return name === '' ? handle : `${name} (${handle})`;
}

function renderOrigin({ reposted_by: reposter, replying_to: target, community }: Status): string {
  const handle = target?.screen_name ?? null;
  const answered = handle === null ? 'another post' : `@${handle}`;
  const origins = [
    reposter && `Reposted by ${nameAuthor(reposter)}${renderCopy(reposter)}`,
    community && `In ${link(community.name, community.url)}`,
    target && `In reply to ${link(answered, target.url)}`,
  ].filter(Boolean);
  return joinParts(origins.map((origin) => paragraph(`<em>${origin}</em>`)));
}

function renderCard(card: Card): string {
  const { url, title, description, provider_name: site, author_name: author, author_url } = card;
  const source = [
    ...(site === undefined ? [] : [escapeLine(site)]),
    ...(author === undefined ? [] : [`by ${link(author, author_url ?? null)}`]),
  ].join(' · ');
  return quoteBlock([
    paragraph(`<strong>${link(toLine(title) || url, url)}</strong>`),
    renderParagraphs(description ?? ''),
    paragraph(source),
  ]);
}

function renderPoll(poll: Poll): string {
  const choices = renderList(describeChoices(poll).map(escapeLine));
  const votes = describeVotes(poll);
  return votes === '' ? choices : `${choices}\n${paragraph(escapeLine(votes))}`;
}

function renderList(items: readonly string[]): string {
  if (items.length === 0) return '';
  return `<ul>\n${items.map((item) => `<li dir="auto">${item}</li>`).join('\n')}\n</ul>`;
}

function renderArticle({ title, preview_text: preview }: Article, url: string): string {
  const name = paragraph(`<strong>${link(toLine(title) || 'Article', url)}</strong>`);
  return joinParts([name, renderParagraphs(preview ?? '')]);
}
