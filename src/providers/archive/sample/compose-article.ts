import { toIsoSeconds } from '../../../core/clock.ts';
import type { Article, ArticleBlock, StyleRange } from '../../../model/article.ts';
import { composeMedia, pictureUrl } from './compose-media.ts';
import type { ArticleDraft, ArticleStyleDraft, BlockDraft } from './drafts.ts';
import { findRun } from './mark-text.ts';

/** What an article takes from its post. */
export interface ArticleSetting {
  readonly id: string;
  readonly createdAt: string;
  /** Gives the address of a post of the sample by its key. */
  readonly addressOf: (key: string) => string;
}

/** Gives a whole article. */
export function composeArticle(draft: ArticleDraft, setting: ArticleSetting): Article {
  return {
    id: setting.id,
    title: draft.title,
    preview_text: draft.preview,
    cover_url: pictureUrl(draft.cover),
    created_at: setting.createdAt,
    modified_at: toIsoSeconds(Date.parse(draft.modifiedAt)),
    blocks: draft.blocks.map((block) => composeBlock(block, setting)),
  };
}

function composeBlock(draft: BlockDraft, setting: ArticleSetting): ArticleBlock {
  if ('h' in draft) return { type: 'heading', level: draft.h, text: draft.text, styles: [] };
  switch (draft.tag) {
    case 'p':
      return { type: 'paragraph', ...composeText(draft) };
    case 'quote':
      return { type: 'quote', ...composeText(draft) };
    case 'ol':
    case 'ul':
      return { type: 'list_item', ordered: draft.tag === 'ol', ...composeText(draft) };
    case 'code':
    case 'markdown':
      return { type: draft.tag, text: draft.text };
    case 'image': {
      const { url, alt, width, height } = composeMedia(draft.media);
      return { type: 'image', url, alt, width, height };
    }
    case 'post':
      return { type: 'post', url: setting.addressOf(draft.key) };
    case 'divider':
      return { type: 'divider' };
  }
}

function composeText(draft: {
  readonly text: string;
  readonly styles?: readonly ArticleStyleDraft[];
}): { readonly text: string; readonly styles: readonly StyleRange[] } {
  const ranges = (draft.styles ?? []).map(([style, run, url]) => ({
    style,
    ...findRun(draft.text, run),
    ...(url === undefined ? {} : { url }),
  }));
  return { text: draft.text, styles: ranges.sort((a, b) => a.start - b.start || b.end - a.end) };
}
