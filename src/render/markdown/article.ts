import { trimEndOf } from '../../core/trim-end.ts';
import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import { toShownText } from './characters.ts';
import { formatMinute } from './figures.ts';
import { joinBlocks, joinFacts, listItem, quoteBlock } from './layout.ts';
import { image, linkUrl } from './links.ts';
import type { Mark } from './spans.ts';
import { renderHeading, renderText } from './text.ts';
import { cleanMarkdown, type NestHeading, nestHeadings } from './verbatim.ts';

/** How much of an article a page shows: all that is known, or what it says before it is opened. */
export type ArticleExtent = 'whole' | 'preview';

/** How an article stands on a page. */
export interface ArticleView {
  /** The level of the title's heading; the article's own headings follow below it. */
  readonly level: number;
  /** False if the title is above the article already, one level higher. */
  readonly hasTitle: boolean;
  /** True adds when it was published and changed. */
  readonly full: boolean;
  readonly extent: ArticleExtent;
}

/** Gives an article: title, cover, and its blocks, or its preview where there are none. */
export function renderArticle(article: Article, view: ArticleView): string {
  const cover =
    article.cover_url === null ? null : image('Cover of the article', article.cover_url);
  return joinBlocks([
    view.hasTitle ? renderTitle(renderHeading(article.title, []) || 'Article', view.level) : null,
    view.full ? describeDates(article) : null,
    cover,
    ...(article.blocks.length === 0 || view.extent === 'preview'
      ? previewOf(article)
      : renderBlocks(article.blocks, nestHeadings(view.hasTitle ? view.level : view.level - 1))),
  ]);
}

function describeDates({ created_at: created, modified_at: modified }: Article): string {
  return joinFacts([
    created === null ? null : `Published ${formatMinute(created)}`,
    modified === null || modified === created ? null : `changed ${formatMinute(modified)}`,
  ]);
}

function previewOf(article: Article): readonly string[] {
  return [
    renderText(article.preview_text ?? '', []),
    article.blocks.length === 0
      ? '*Only the beginning of this article is known.*'
      : '*The post itself has the whole article.*',
  ];
}

type ListItem = Extract<ArticleBlock, { type: 'list_item' }>;

function renderBlocks(blocks: readonly ArticleBlock[], nest: NestHeading): string[] {
  const rendered: string[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    if (block?.type !== 'list_item') {
      rendered.push(block === undefined ? '' : renderBlock(block, nest));
      continue;
    }
    const items = listFrom(blocks, at, block.ordered);
    rendered.push(renderList(items));
    at += items.length - 1;
  }
  return rendered;
}

function listFrom(blocks: readonly ArticleBlock[], from: number, ordered: boolean): ListItem[] {
  const items: ListItem[] = [];
  for (let at = from; at < blocks.length; at += 1) {
    const block = blocks[at];
    if (block?.type !== 'list_item' || block.ordered !== ordered) break;
    items.push(block);
  }
  return items;
}

function renderList(items: readonly ListItem[]): string {
  return items
    .map((item) => ({ item, text: renderText(item.text, marksOf(item.styles)) }))
    .filter(({ text }) => text !== '')
    .map(({ item, text }, at) => listItem(text, item.ordered ? `${at + 1}. ` : '- '))
    .join('\n');
}

function renderBlock(block: Exclude<ArticleBlock, ListItem>, nest: NestHeading): string {
  switch (block.type) {
    case 'paragraph':
      return renderText(block.text, marksOf(block.styles));
    case 'heading':
      return renderHeadingBlock(block, nest);
    case 'quote': {
      const text = renderText(block.text, marksOf(block.styles));
      return text === '' ? '' : quoteBlock(text);
    }
    case 'code':
      return fenceCode(block.text);
    case 'markdown':
      return cleanMarkdown(block.text, nest);
    case 'image':
      return image(block.alt?.trim() || 'Picture in the article', block.url);
    case 'post':
      return `Post: ${linkUrl(block.url)}`;
    case 'divider':
      return '---';
  }
}

function renderHeadingBlock(
  { text, styles, level }: Extract<ArticleBlock, { type: 'heading' }>,
  nest: NestHeading,
): string {
  const title = renderHeading(text, marksOf(styles));
  return title === '' ? '' : renderTitle(title, nest(level));
}

function renderTitle(title: string, level: number): string {
  return `${'#'.repeat(level)} ${title}`;
}

function marksOf(styles: readonly StyleRange[]): Mark[] {
  return styles.map(({ style, ...range }) => ({ type: style, ...range }));
}

/** Gives a code block whose fence is longer than any run of backticks in the code. */
function fenceCode(code: string): string {
  const shown = trimEndOf(toShownText(code), '\n');
  const runs = shown.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}
