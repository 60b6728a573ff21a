import type { Post } from '../../model/post.ts';
import type { PostResult } from '../../model/results.ts';
import { nameAccount, renderAbout, renderAccounts } from './accounts.ts';
import { escapeInline } from './escape.ts';
import { joinBlocks, joinLines, listItem } from './layout.ts';
import { renderOrigin, renderPostBlock } from './post-block.ts';
import {
  linkDate,
  type PostView,
  renderContent,
  renderFacts,
  renderTombstone,
} from './post-content.ts';
import { findAccounts, findPositions, isByOneAuthor, type Thread, toThread } from './thread.ts';

/** Gives the Markdown page of a post read (CommonMark with GitHub's tables), ended by a newline. */
export function renderPostPage(result: PostResult): string {
  const thread = toThread(result.posts);
  return `${joinBlocks([
    `# ${escapeInline(titleOf(thread, result.posts.length))}`,
    ...(result.posts.length > 1 ? renderBlocks(result, thread) : renderLonePost(result, thread)),
    renderUserDetail(result, thread),
    renderWarnings(result.warnings),
  ])}\n`;
}

/** Gives the title of a post read's page as plain text on one line. */
export function titlePostPage(result: PostResult): string {
  return titleOf(toThread(result.posts), result.posts.length);
}

function titleOf(thread: Thread, postCount: number): string {
  const author = thread.asked?.author ?? null;
  if (author === null) return postCount > 1 ? 'Conversation' : 'Unavailable post';
  const name = nameAccount(author);
  if (postCount < 2) return name;
  if (!isByOneAuthor(thread)) return `Conversation with ${name}`;
  return `${thread.chain.length > 1 ? 'Thread' : 'Post'} by ${name}`;
}

function renderLonePost(result: PostResult, thread: Thread): readonly string[] {
  const post = thread.asked;
  if (post === undefined) return [];
  if (post.type === 'tombstone') return [renderTombstone(post)];
  const view = { full: result.full, fetchedAt: result.fetchedAt, level: 2 };
  const signature = joinLines([`— ${linkDate(post)}`, renderFacts(post, view)]);
  return [renderOrigin(post, thread), renderContent(post, view), signature];
}

function renderBlocks(result: PostResult, thread: Thread): readonly string[] {
  const positions = findPositions(thread);
  // Posts stand under headings of level 3, so that what they hold begins at level 4.
  const view: PostView = { full: result.full, fetchedAt: result.fetchedAt, level: 4 };
  const render = (post: Post) => {
    const isMarked = post === thread.asked && post !== result.posts[0];
    return renderPostBlock(post, { thread, position: positions.get(post) ?? null, isMarked }, view);
  };
  const replies = thread.replies.map(render);
  return [...thread.chain.map(render), ...(replies.length > 0 ? ['## Replies', ...replies] : [])];
}

function renderUserDetail({ userDetail, posts }: PostResult, { asked }: Thread): string | null {
  const author = asked?.author ?? null;
  switch (userDetail) {
    case 'off':
      return null;
    case 'author':
      return author === null ? null : renderAbout(author);
    case 'all': {
      const accounts = findAccounts(posts);
      return accounts.length === 0 ? null : renderAccounts(accounts);
    }
  }
}

function renderWarnings(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null;
  const items = warnings.map((warning) => listItem(escapeInline(warning), '- '));
  return joinBlocks(['---', '**Notes**', items.join('\n')]);
}
