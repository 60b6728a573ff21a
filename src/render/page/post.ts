import type { Post } from '../../model/post.ts';
import { type PostPlace, type PostView, toPostBlocks, toPostHead } from '../blocks/post.ts';
import { writeAccount, writeBlocks, writeFacts } from '../html/blocks.ts';
import { renderAvatar } from '../html/figures.ts';
import { heading, joinParts, paragraph } from '../html/markup.ts';
import type { PageView } from './view.ts';

interface PagePlace extends PostPlace, Pick<PostView, 'isTitledByArticle' | 'articles'> {}

/** Renders an `article` element; yields after each block of an article for other tasks. */
export function renderPost(post: Post, place: PagePlace, view: PageView): string {
  const kind = place.isRequested ? 'post requested' : 'post';
  const { full, fetchedAt } = view;
  const { isTitledByArticle, articles, level } = place;
  const content = { full, fetchedAt, isTitledByArticle, articles, level: level + 1 };
  const body = writeBlocks(toPostBlocks(post, place, content), view);
  const head = renderHeader(post, place, view);
  return `<article class="${kind}">\n<header>\n${head}\n</header>\n${body}\n</article>`;
}

function renderHeader(post: Post, place: PagePlace, view: PageView): string {
  const { author, origin, labels } = toPostHead(post, place);
  const { level } = place;
  if (author === null) {
    // The heading is the time if the page already shows the author, or the author is unknown.
    const title = heading(level, writeFacts(origin, view));
    return joinParts([title, paragraph(writeFacts(labels, view), 'facts')]);
  }
  return joinParts([
    renderAvatar(author.avatar_url, view),
    heading(level, writeAccount(author, view)),
    paragraph(writeFacts([...origin, ...labels], view), 'facts'),
  ]);
}
