import type { Account } from '../../model/account.ts';
import type { Poll } from '../../model/post.ts';
import { type Block, levelOf, type StyledText, type Words } from '../blocks/block.ts';
import { toLine } from '../markdown/characters.ts';
import { formatCount, toMinute } from '../markdown/layout.ts';
import {
  escapeHtml,
  escapeLine,
  type HtmlView,
  heading,
  joinParts,
  paragraph,
  renderList,
  renderTime,
} from './markup.ts';
import { isShown, renderFigure, renderMedia } from './pictures.ts';
import { renderCode, renderInline, renderMarkdown, renderParagraphs } from './text.ts';

/** Writes blocks as HTML and well-formed XML. */
export function writeBlocks(blocks: readonly Block[], view: HtmlView): string {
  return joinParts(blocks.map((block) => writeBlock(block, view)));
}

function writeBlock(block: Block, view: HtmlView): string {
  switch (block.type) {
    case 'box':
      return writeBox(block, view);
    case 'article':
      return writeArticle(block.blocks, view);
    case 'markdown':
      return renderMarkdown(block.text, block.nest, optionsOf(view));
    case 'line':
      return writeLine(block, view);
    case 'text':
      return renderParagraphs(block.text, block.annotations, {
        ...optionsOf(view),
        lang: block.lang,
      });
    case 'media':
      return renderMedia(block.items, block.isHidden ? withoutPictures(view) : view);
    case 'poll':
      return writePoll(block, view);
    default:
      return writeArticleBlock(block, view);
  }
}

function writeArticle(blocks: readonly Block[], view: HtmlView): string {
  const content = writeBlocks(blocks, view);
  return view.isStyled ? `<div class="article">\n${content}\n</div>` : content;
}

const optionsOf = ({ links }: HtmlView) => ({ toLinkTags: links.toTags });

export const writeFacts = (facts: readonly Words[], view: HtmlView): string =>
  facts.map((fact) => writeWords(fact, view)).join(' · ');

export function writeWords(words: Words, view: HtmlView): string {
  if (typeof words === 'string') return escapeHtml(words);
  if ('length' in words) return words.map((part) => writeWords(part, view)).join('');
  switch (words.type) {
    case 'bold':
      return `<strong>${escapeLine(words.words)}</strong>`;
    case 'italic':
      return `<em>${escapeLine(words.words)}</em>`;
    case 'plain':
      return escapeLine(words.text);
    case 'prose':
      return renderInline(toLine(words.text), [], optionsOf(view));
    default:
      return writeReference(words, view);
  }
}

type Reference = Extract<Words, { type: 'link' | 'url' | 'time' | 'account' | 'handle' }>;

function writeReference(words: Reference, view: HtmlView): string {
  const { links } = view;
  switch (words.type) {
    case 'link':
      return links.link(words.text, words.url);
    case 'url':
      return links.link(words.url, words.url);
    case 'handle':
      return links.link(`@${words.account.screen_name}`, words.account.url);
    case 'account':
      return writeAccount(words.account, view, words.isBold);
    case 'time': {
      const [open, close] = words.url === null ? ['', ''] : links.toTags(words.url);
      return `${open}${writeTime(words, view)}${close}`;
    }
  }
}

function writeTime({ time, precision }: Extract<Words, { type: 'time' }>, { isStyled }: HtmlView) {
  return isStyled ? renderTime(time, precision) : escapeLine(toMinute(time) ?? time);
}

/** Writes name and linked handle of an account; only the handle if there is no name. */
export function writeAccount(account: Account, view: HtmlView, isBold = false): string {
  const { name, screen_name: handle, url } = account;
  const [open, close] = view.links.toTags(url);
  const linked = `${open}${isolate(`@${handle}`, view)}${close}`;
  if (toLine(name) === '') return linked;
  const shown = isBold ? `<strong>${isolate(name, view)}</strong>` : isolate(name, view);
  return view.isStyled ? `${shown} ${linked}` : `${shown} (${linked})`;
}

const isolate = (text: string, { isStyled }: HtmlView): string =>
  isStyled ? `<bdi>${escapeLine(text)}</bdi>` : escapeLine(text);

const withoutPictures = (view: HtmlView): HtmlView => ({ ...view, toPictureUrl: () => null });

function writeLine({ role, facts }: Extract<Block, { type: 'line' }>, view: HtmlView): string {
  const written = writeFacts(facts, view);
  if (role === 'title') return paragraph(`<strong>${written}</strong>`);
  const isItalic = role === 'remark' || (role === 'context' && !view.isStyled);
  if (isItalic) return paragraph(`<em>${written}</em>`);
  return paragraph(written, view.isStyled && role !== 'plain' ? role : '');
}

function writePoll({ choices, facts }: Extract<Block, { type: 'poll' }>, view: HtmlView): string {
  const content = joinParts([
    renderList(choices.map((choice) => writeChoice(choice, view))),
    paragraph(writeFacts(facts, view), view.isStyled ? 'facts' : ''),
  ]);
  return view.isStyled ? `<div class="poll">\n${content}\n</div>` : content;
}

function writeChoice(
  { label, count, percentage }: Poll['choices'][number],
  view: HtmlView,
): string {
  const share = percentage === null ? null : `${percentage.toFixed(1)}%`;
  const facts = [share, formatCount(count, 'vote', 'votes')].filter(Boolean).join(' · ');
  const name = isolate(label, view);
  if (!view.isStyled) return facts === '' ? name : `${name} (${facts})`;
  return `${name}${facts === '' ? '' : ` <span class="share">${facts}</span>`}${renderBar(percentage)}`;
}

function renderBar(percentage: number | null): string {
  if (percentage === null || !Number.isFinite(percentage)) return '';
  const width = Math.min(100, Math.max(0, percentage)).toFixed(1);
  return `<svg class="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="1"></rect></svg>`;
}

function writeBox(
  { role, label, blocks }: Extract<Block, { type: 'box' }>,
  view: HtmlView,
): string {
  const title = label === null ? '' : paragraph(`<strong>${writeWords(label, view)}</strong>`);
  const content = joinParts([title, writeBlocks(blocks, view)]);
  if (content === '') return '';
  if (!view.isStyled || role === 'citation' || role === 'passage') return quote(content);
  if (role === 'quote' || role === 'earlier') return quote(content, 'quoted');
  return `<div class="${role}">\n${content}\n</div>`;
}

/** Renders a `blockquote` element. `name`: CSS class. */
export const quote = (html: string, name = ''): string =>
  `<blockquote${name === '' ? '' : ` class="${name}"`} dir="auto">\n${html}\n</blockquote>`;

type ArticleBlock = Extract<Block, { type: 'heading' | 'list' | 'code' | 'figure' | 'rule' }>;

function writeArticleBlock(block: ArticleBlock, view: HtmlView): string {
  switch (block.type) {
    case 'heading': {
      const title = writeStyled(block, view);
      if (title === '') return '';
      return view.isStyled
        ? heading(levelOf(block), title)
        : paragraph(`<strong>${title}</strong>`);
    }
    case 'list': {
      const items = block.items.map((item) => writeStyled(item, view));
      const shown = items.filter((item) => item !== '');
      return renderList(shown, '', block.isOrdered ? 'ol' : 'ul');
    }
    case 'code':
      return renderCode(block.text);
    case 'figure':
      return writeFigure(block, block.isHidden ? withoutPictures(view) : view);
    case 'rule':
      return '<hr />';
  }
}

function writeFigure({ role, figure }: Extract<Block, { type: 'figure' }>, view: HtmlView): string {
  // A picture that cannot be shown is left out of a link card, because the card has a link already.
  if (role === 'card' && !isShown(figure, view)) return '';
  const shown = renderFigure(figure, view);
  return shown.startsWith('<div') ? shown : paragraph(shown);
}

const writeStyled = ({ text, annotations }: StyledText, view: HtmlView): string =>
  renderInline(text, annotations, optionsOf(view)).trim();
