import type { Steps } from '../../core/scheduling/slices.ts';
import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import { renderInline, renderParagraphs } from '../html/text.ts';
import type { Annotation } from '../markdown/spans.ts';
import { type NestHeading, nestHeadings } from '../markdown/verbatim.ts';
import { renderCode, renderMarkdown } from './markdown.ts';
import { heading, joinFacts, joinParts, paragraph, renderList, renderTime } from './markup.ts';
import { renderPicture } from './media.ts';
import type { PageView } from './view.ts';

interface ArticlePlace {
  /** Heading level of the article's title. */
  readonly level: number;
  /** Whether the page's title is already the title of the article. If so, the article is rendered without a title. */
  readonly isTitled: boolean;
  /** Part of the article to show: `whole` for all available blocks, `preview` for the preview text only. */
  readonly extent: 'whole' | 'preview';
}

/**
 * Renders an article: its title, its cover picture, and its blocks or its preview text. Yields
 * after each block to let other tasks run.
 */
export function* renderArticle(
  article: Article,
  place: ArticlePlace,
  view: PageView,
): Steps<string> {
  const { title, cover_url: cover, blocks, preview_text: preview } = article;
  const { level, isTitled, extent } = place;
  const isPreview = blocks.length === 0 || extent === 'preview';
  const nest = nestHeadings(isTitled ? level - 1 : level);
  const missing =
    blocks.length === 0
      ? 'Only the beginning of this article is known.'
      : 'The post itself has the whole article.';
  const parts = [
    isTitled ? null : heading(level, renderInline(title, [], toOptions(view)).trim() || 'Article'),
    view.full ? paragraph(describeDates(article), 'facts') : null,
    cover === null ? null : renderFigure(cover, { alt: 'Cover of the article' }, view),
    ...(isPreview
      ? [renderParagraphs(preview ?? '', [], toOptions(view)), paragraph(`<em>${missing}</em>`)]
      : yield* renderBlocks(blocks, nest, view)),
  ];
  return `<div class="article">\n${joinParts(parts)}\n</div>`;
}

const toOptions = ({ links }: PageView) => ({ toLinkTags: links.toTags });

function describeDates({ created_at: created, modified_at: modified }: Article): string {
  return joinFacts([
    created === null ? null : `Published ${renderTime(created)}`,
    modified === null || modified === created ? null : `changed ${renderTime(modified)}`,
  ]);
}

type ListItem = Extract<ArticleBlock, { type: 'list_item' }>;

function* renderBlocks(
  blocks: readonly ArticleBlock[],
  nest: NestHeading,
  view: PageView,
): Steps<readonly string[]> {
  const rendered: string[] = [];
  let list: ListItem[] = [];
  const endList = () => {
    const items = list.map((item) => renderStyled(item, view)).filter((item) => item !== '');
    rendered.push(renderList(items, '', list[0]?.ordered === true ? 'ol' : 'ul'));
    list = [];
  };
  for (const block of blocks) {
    const isItem = block.type === 'list_item';
    if (!isItem || block.ordered !== list[0]?.ordered) endList();
    if (isItem) list.push(block);
    else rendered.push(yield* renderBlock(block, nest, view));
    yield;
  }
  endList();
  return rendered;
}

const renderStyled = (
  { text, styles }: { text: string; styles: readonly StyleRange[] },
  view: PageView,
) => renderInline(text, annotationsOf(styles), toOptions(view)).trim();

function* renderBlock(
  block: Exclude<ArticleBlock, ListItem>,
  nest: NestHeading,
  view: PageView,
): Steps<string> {
  switch (block.type) {
    case 'paragraph':
      return renderParagraphs(block.text, annotationsOf(block.styles), toOptions(view));
    case 'heading': {
      const title = renderStyled(block, view);
      return title === '' ? '' : heading(nest(block.level), title);
    }
    case 'quote':
      return quote(renderParagraphs(block.text, annotationsOf(block.styles), toOptions(view)));
    case 'code':
      return renderCode(block.text);
    case 'markdown':
      return yield* renderMarkdown(block.text, nest, toOptions(view));
    case 'image':
      return renderFigure(
        block.url,
        { ...block, alt: block.alt?.trim() || 'Picture in the article' },
        view,
      );
    case 'post':
      return paragraph(`Post: ${view.links.link(block.url, block.url)}`);
    case 'divider':
      return '<hr>';
  }
}

const annotationsOf = (styles: readonly StyleRange[]): Annotation[] =>
  styles.map(({ style, ...range }) => ({ type: style, ...range }));

const quote = (html: string) =>
  html === '' ? '' : `<blockquote dir="auto">\n${html}\n</blockquote>`;

interface FigureFacts {
  readonly alt: string;
  readonly width?: number | null;
  readonly height?: number | null;
}

function renderFigure(
  url: string,
  { alt, width = null, height = null }: FigureFacts,
  view: PageView,
): string {
  return paragraph(renderPicture({ url, target: url, label: alt, width, height }, view), 'figure');
}
