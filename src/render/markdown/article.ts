import { trimEndOf } from '../../core/trim-end.ts';
import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import { toVisibleText } from './characters.ts';
import { formatMinute, joinBlocks, joinFacts, listItem, quoteBlock } from './layout.ts';
import { image, linkUrl } from './links.ts';
import { separateTemplates } from './note-syntax.ts';
import type { Annotation } from './spans.ts';
import { renderHeading, renderText } from './text.ts';
import { cleanMarkdown, type NestHeading, nestHeadings } from './verbatim.ts';

export interface ArticleView {
  /** Heading level of the article's title. Headings within the article have deeper levels. */
  readonly level: number;
  /** Whether to render the article's title. `false` if the title is already the page's heading, one level higher. */
  readonly hasTitle: boolean;
  /** Whether to render the times at which the article was published and changed. */
  readonly full: boolean;
  /** Rendered part of the article: `whole` for all available blocks, `preview` for the preview text only. */
  readonly extent: 'whole' | 'preview';
}

/** Renders an article as Markdown: its title, its cover picture, and its blocks or its preview text. */
export function renderArticle(article: Article, view: ArticleView): string {
  const { title, cover_url: cover, blocks } = article;
  const { hasTitle, level } = view;
  const isPreview = blocks.length === 0 || view.extent === 'preview';
  return joinBlocks([
    hasTitle ? `${'#'.repeat(level)} ${renderHeading(title, []) || 'Article'}` : null,
    view.full ? describeDates(article) : null,
    cover === null ? null : image('Cover of the article', cover),
    ...(isPreview
      ? previewOf(article)
      : renderBlocks(blocks, nestHeadings(hasTitle ? level : level - 1))),
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
  let list: ListItem[] = [];
  const endList = () => {
    rendered.push(renderList(list));
    list = [];
  };
  for (const block of blocks) {
    const isItem = block.type === 'list_item';
    if (!isItem || block.ordered !== list[0]?.ordered) endList();
    if (isItem) list.push(block);
    else rendered.push(renderBlock(block, nest));
  }
  endList();
  return rendered;
}

function renderList(items: readonly ListItem[]): string {
  return items
    .map(({ text, styles }) => renderText(text, annotationsOf(styles)))
    .filter((text) => text !== '')
    .map((text, at) => listItem(text, items[0]?.ordered === true ? `${at + 1}. ` : '- '))
    .join('\n');
}

function renderBlock(block: Exclude<ArticleBlock, ListItem>, nest: NestHeading): string {
  switch (block.type) {
    case 'paragraph':
      return renderText(block.text, annotationsOf(block.styles));
    case 'heading': {
      const title = renderHeading(block.text, annotationsOf(block.styles));
      return title === '' ? '' : `${'#'.repeat(nest(block.level))} ${title}`;
    }
    case 'quote': {
      const text = renderText(block.text, annotationsOf(block.styles));
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

const annotationsOf = (styles: readonly StyleRange[]): Annotation[] =>
  styles.map(({ style, ...range }) => ({ type: style, ...range }));

/** Renders a Markdown code block with a fence longer than any run of backticks in the code. */
function fenceCode(code: string): string {
  const shown = separateTemplates(trimEndOf(toVisibleText(code), '\n'));
  const runs = shown.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}
