import type { Post } from '../../model/post.ts';
import { type PostPlace, type PostView, toPostBlocks, toPostHead } from '../blocks/post.ts';
import { writeBlocks, writeFacts } from './blocks.ts';
import { joinBlocks } from './layout.ts';

/** Renders a heading with author, time and position in a thread, then the content. */
export function renderPostBlock(
  post: Post,
  place: PostPlace,
  options: Pick<PostView, 'full' | 'fetchedAt' | 'articles'>,
): string {
  const { author, origin, labels } = toPostHead(post, place);
  const who = author === null ? [] : [{ type: 'account', account: author, isBold: false } as const];
  const heading = `${'#'.repeat(place.level)} ${writeFacts([...who, ...origin, ...labels])}`;
  const view = { ...options, level: place.level + 1, isTitledByArticle: false };
  return joinBlocks([heading, writeBlocks(toPostBlocks(post, place, view))]);
}
