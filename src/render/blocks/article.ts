import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import { toLine } from '../markdown/characters.ts';
import type { Annotation } from '../markdown/spans.ts';
import { type NestHeading, nestHeadings } from '../markdown/verbatim.ts';
import {
  type Block,
  type Figure,
  line,
  minute,
  present,
  type StyledText,
  toText,
  type Words,
} from './block.ts';

export interface ArticlePlace {
  /** Heading level of the article's title. Headings within it have deeper levels. */
  readonly level: number;
  /** Whether the page's title, one level higher, is already the title of the article. */
  readonly isTitled: boolean;
  /** Whether to include the times of publication and change. */
  readonly full: boolean;
  /** `whole` for all available blocks, `preview` for the preview text only. */
  readonly extent: 'whole' | 'preview';
  readonly isHidden: boolean;
}

/** Returns title, cover picture, and content or preview text of an article. */
export function toArticle(article: Article, place: ArticlePlace): Block {
  const { title, cover_url: cover, blocks, preview_text: preview } = article;
  const { level, isTitled, extent, isHidden } = place;
  const nest = nestHeadings(isTitled ? level - 1 : level);
  const isPreview = blocks.length === 0 || extent === 'preview';
  const name = toLine(title) === '' ? 'Article' : title;
  const content: readonly (Block | null)[] = isPreview
    ? [toText(preview ?? ''), line('remark', [whereIsRest(article)])]
    : toContent(blocks, { nest, isHidden });
  return {
    type: 'article',
    blocks: present([
      isTitled
        ? null
        : ({ type: 'heading', level, nest: null, text: name, annotations: [] } as const),
      place.full ? line('facts', describeDates(article)) : null,
      cover === null ? null : toFigure(cover, { alt: 'Cover of the article' }, isHidden),
      ...content,
    ]),
  };
}

const whereIsRest = ({ blocks }: Article): string =>
  blocks.length === 0
    ? 'Only the beginning of this article is known.'
    : 'The post itself has the whole article.';

function describeDates({ created_at: created, modified_at: modified }: Article) {
  return [
    created === null ? null : (['Published ', minute(created)] satisfies Words),
    modified === null || modified === created
      ? null
      : (['changed ', minute(modified)] satisfies Words),
  ];
}

interface ContentPlace {
  readonly nest: NestHeading;
  readonly isHidden: boolean;
}

type ListItem = Extract<ArticleBlock, { type: 'list_item' }>;

function toContent(blocks: readonly ArticleBlock[], place: ContentPlace): Block[] {
  const content: Block[] = [];
  let items: ListItem[] = [];
  const endList = () => {
    const [first] = items;
    if (first !== undefined)
      content.push({ type: 'list', isOrdered: first.ordered, items: items.map(toStyled) });
    items = [];
  };
  for (const block of blocks) {
    const isItem = block.type === 'list_item';
    if (!isItem || block.ordered !== items[0]?.ordered) endList();
    if (isItem) items.push(block);
    else content.push(toBlock(block, place));
  }
  endList();
  return content;
}

function toBlock(block: Exclude<ArticleBlock, ListItem>, { nest, isHidden }: ContentPlace): Block {
  switch (block.type) {
    case 'paragraph':
      return { type: 'text', ...toStyled(block), lang: null };
    case 'heading':
      return { type: 'heading', level: block.level, nest, ...toStyled(block) };
    case 'quote': {
      const text = { type: 'text', ...toStyled(block), lang: null } as const;
      return { type: 'box', role: 'passage', label: null, blocks: [text] };
    }
    case 'code':
      return { type: 'code', text: block.text };
    case 'markdown':
      return { type: 'markdown', text: block.text, nest };
    case 'image':
      return toFigure(
        block.url,
        { ...block, alt: block.alt?.trim() || 'Picture in the article' },
        isHidden,
      );
    case 'post':
      return {
        type: 'line',
        role: 'plain',
        facts: [['Post: ', { type: 'url', url: block.url }]],
      };
    case 'divider':
      return { type: 'rule' };
  }
}

function toStyled({
  text,
  styles,
}: {
  readonly text: string;
  readonly styles: readonly StyleRange[];
}): StyledText {
  const annotations = styles.map(({ style, ...range }): Annotation => ({ type: style, ...range }));
  return { text, annotations };
}

interface FigureFacts extends Partial<Pick<Figure, 'width' | 'height'>> {
  readonly alt: string;
}

function toFigure(
  url: string,
  { alt, width = null, height = null }: FigureFacts,
  isHidden: boolean,
): Block {
  const figure = { url, target: url, label: alt, width, height };
  return { type: 'figure', role: 'article', figure, isHidden };
}
