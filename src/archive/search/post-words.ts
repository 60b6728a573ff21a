import type { Article } from '../../model/article.ts';
import type { Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { toIndexText, toNameWord } from './words.ts';

/** Token of every indexed post, because FTS5 needs a term even if a search only excludes words. */
export const anyPostToken = 'any';

export const platformToken = (platform: Platform): string => `on${platform}`;

/** Returns the index columns of a post. `marks` has tokens for the platform and kinds of media. */
export function toPostWords(post: Status) {
  return {
    text: toIndexText(textOf(post)),
    author: authorNames(post).map(toNameWord).join(' '),
    tags: tagsOf(post).map(toNameWord).join(' '),
    marks: filterTokensOf(post).join(' '),
  };
}

/** Returns all texts of a post that a search finds, without its author and tags. */
export function textOf({ text, content_warning: warning, card, article }: Status): string {
  if (warning === null && card === null && article === null) return text;
  const shown = card === null ? [] : [card.title, card.description ?? ''];
  return [warning ?? '', text, ...shown, ...articleTexts(article)].join(' ');
}

function articleTexts(article: Article | null): readonly string[] {
  if (article === null) return [];
  const texts = article.blocks.flatMap((block) => ('text' in block ? [block.text] : []));
  return [article.title, ...texts];
}

const authorNames = ({ author, platform }: Status): readonly string[] =>
  platform === 'bluesky' ? [author.screen_name, author.id] : [author.screen_name];

function tagsOf({ text, facets }: Status): readonly string[] {
  const tags = facets.filter(({ type }) => type === 'hashtag');
  if (tags.length === 0) return [];
  const letters = [...text];
  return tags.map(({ start, end }) =>
    letters
      .slice(start, end)
      .join('')
      .replace(/^[#＃]/, ''),
  );
}

function filterTokensOf({ media, platform }: Status): readonly string[] {
  return [
    anyPostToken,
    platformToken(platform),
    ...(media.all.length > 0 ? ['media'] : []),
    ...(media.photos.length > 0 ? ['photo'] : []),
    ...(media.videos.length > 0 ? ['video'] : []),
  ];
}
