import type { Article } from '../../model/article.ts';
import type { Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { toIndexText, toNameWord } from './words.ts';

/** The mark that every post has: a search that only excludes begins with all posts. */
export const anyMark = 'any';

export function platformMark(platform: Platform): string {
  return `on${platform}`;
}

/** Returns the columns of `post_words`: the words of a post's text, card and article, and single words to filter by. */
export function toPostWords(post: Status) {
  return {
    text: toIndexText(textOf(post)),
    author: authorNames(post).map(toNameWord).join(' '),
    tags: tagsOf(post).map(toNameWord).join(' '),
    marks: marksOf(post).join(' '),
  };
}

function textOf({ text, content_warning: warning, card, article }: Status): string {
  if (warning === null && card === null && article === null) return text;
  const shown = card === null ? [] : [card.title, card.description ?? ''];
  return [warning ?? '', text, ...shown, ...articleTexts(article)].join(' ');
}

function articleTexts(article: Article | null): readonly string[] {
  if (article === null) return [];
  const texts = article.blocks.flatMap((block) => ('text' in block ? [block.text] : []));
  return [article.title, ...texts];
}

/** An author on Bluesky is also known by the id. */
function authorNames({ author, platform }: Status): readonly string[] {
  return platform === 'bluesky' ? [author.screen_name, author.id] : [author.screen_name];
}

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

function marksOf({ media, platform }: Status): readonly string[] {
  return [
    anyMark,
    platformMark(platform),
    ...(media.all.length > 0 ? ['media'] : []),
    ...(media.photos.length > 0 ? ['photo'] : []),
    ...(media.videos.length > 0 ? ['video'] : []),
  ];
}
