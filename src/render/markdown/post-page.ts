import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { PostResult } from '../../model/results.ts';
import { headAccount, nameAccount, renderAbout, renderAccounts } from './accounts.ts';
import { toLine } from './characters.ts';
import { copyPrefix } from './copies.ts';
import { escapeInline } from './escape.ts';
import { joinBlocks, joinFacts, joinLines } from './layout.ts';
import { renderNotes } from './notes.ts';
import { renderOrigin, renderPostBlock } from './post-block.ts';
import {
  originOf,
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
    `# ${titleOf(thread, result.posts.length, { account: headAccount, text: escapeInline })}`,
    ...(result.posts.length > 1 ? renderBlocks(result, thread) : renderLonePost(result, thread)),
    renderUserDetail(result, thread),
    renderNotes(result.warnings),
  ])}\n`;
}

/** Gives the title of a post read's page as plain text on one line. */
export function titlePostPage(result: PostResult): string {
  return titleOf(toThread(result.posts), result.posts.length, {
    account: nameAccount,
    text: toLine,
  });
}

/** How a title writes what others have written: as plain text or as Markdown. */
interface TitleStyle {
  account(account: Account): string;
  text(text: string): string;
}

function titleOf(thread: Thread, postCount: number, style: TitleStyle): string {
  const { asked } = thread;
  const author = asked?.author ?? null;
  if (asked === undefined || author === null) {
    return postCount > 1 ? 'Conversation' : 'Unavailable post';
  }
  const name = style.account(author);
  const prefix = copyPrefix(asked, style.text);
  if (postCount < 2) return `${prefix}${name}`;
  if (!isByOneAuthor(thread)) return `${prefix}Conversation with ${name}`;
  return `${prefix}${thread.chain.length > 1 ? 'Thread' : 'Post'} by ${name}`;
}

function renderLonePost(result: PostResult, thread: Thread): readonly string[] {
  const post = thread.asked;
  if (post === undefined) return [];
  if (post.type === 'tombstone') return [renderTombstone(post)];
  const { full, fetchedAt } = result;
  const view: PostView = { full, fetchedAt, level: 2, articles: 'whole' };
  const signature = joinLines([`— ${joinFacts(originOf(post))}`, renderFacts(post, view)]);
  return [renderOrigin(post, { thread, owner: null }), renderContent(post, view), signature];
}

function renderBlocks(result: PostResult, thread: Thread): readonly string[] {
  const positions = findPositions(thread);
  // Posts stand under headings of level 3, so that what they hold begins at level 4.
  const { full, fetchedAt } = result;
  const view: PostView = { full, fetchedAt, level: 4, articles: 'whole' };
  const render = (post: Post) => {
    const isMarked = post === thread.asked && post !== result.posts[0];
    const position = positions.get(post) ?? null;
    return renderPostBlock(post, { thread, owner: null, position, isMarked }, view);
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
