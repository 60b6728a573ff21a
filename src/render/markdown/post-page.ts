import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { PostPage } from '../../model/results.ts';
import { present } from '../blocks/block.ts';
import {
  describeCounts,
  originOf,
  type PostPlace,
  type PostView,
  placeThread,
  toCitation,
  toContent,
  toContext,
  toPostBlocks,
  toPostHead,
} from '../blocks/post.ts';
import { articleTitleOf, firstWordsOf } from '../summary.ts';
import {
  copyPrefix,
  nameAccount,
  renderAbout,
  titleAccount,
  writeBlocks,
  writeFacts,
} from './blocks.ts';
import { toLine } from './characters.ts';
import { escapeInline, keepNumberSigns } from './escape.ts';
import { joinBlocks, joinLines } from './layout.ts';
import { renderNotes } from './text.ts';
import { findAccounts, isByOneAuthor, type Thread, toThread } from './thread.ts';

/** Renders CommonMark with GitHub tables. */
export function renderPostPage(result: PostPage): string {
  const thread = toThread(result.posts);
  const title = titleOf(thread, result.posts, { account: titleAccount, text: escapeInline });
  const blocks =
    result.posts.length > 1 ? renderBlocks(result, thread) : renderOnlyPost(result, thread);
  return `${joinBlocks([
    `# ${keepNumberSigns(title)}`,
    ...blocks,
    renderUserDetail(result, thread),
    renderNotes(result.warnings),
  ])}\n`;
}

/** Returns plain text: the author and the first words, or the article's title. */
export const titlePostPage = (result: PostPage): string =>
  titleOf(toThread(result.posts), result.posts, { account: nameAccount, text: toLine });

/** Returns plain text such as `Thread by Ada (@ada)`, without the first words of the post. */
export function headPostPage({ posts }: PostPage): string {
  const thread = toThread(posts);
  const { main } = thread;
  if (!main?.author) return posts.length > 1 ? 'Conversation' : 'Unavailable post';
  if (isTitledByArticle(posts, main)) return `${copyPrefix(main)}${articleTitleOf(main)}`;
  return `${copyPrefix(main)}${kindOf(thread, posts.length) || 'Post by '}${nameAccount(main.author)}`;
}

interface TitleStyle {
  account(account: Account): string;
  text(text: string): string;
}

function titleOf(thread: Thread, posts: readonly Post[], style: TitleStyle): string {
  const { main } = thread;
  if (!main?.author) return posts.length > 1 ? 'Conversation' : 'Unavailable post';
  const prefix = copyPrefix(main, style.text);
  if (isTitledByArticle(posts, main)) return `${prefix}${style.text(articleTitleOf(main))}`;
  const name = `${kindOf(thread, posts.length)}${style.account(main.author)}`;
  const words = style.text(firstWordsOf(main));
  return `${prefix}${words === '' ? name : `${name}: ${words}`}`;
}

function kindOf(thread: Thread, postCount: number): string {
  if (postCount < 2) return '';
  if (!isByOneAuthor(thread)) return 'Conversation with ';
  return thread.chain.length > 1 ? 'Thread by ' : 'Post by ';
}

/** Returns whether the page's title is that of the post's article. */
export const isTitledByArticle = (posts: readonly Post[], main: Post | undefined): boolean =>
  posts.length < 2 && main !== undefined && articleTitleOf(main) !== '';

function renderOnlyPost(result: PostPage, thread: Thread): readonly string[] {
  const post = thread.main;
  if (post === undefined) return [];
  if (post.type === 'tombstone') return [writeBlocks([toCitation(post)])];
  const { full, fetchedAt, posts } = result;
  const isTitled = isTitledByArticle(posts, post);
  const view = {
    full,
    fetchedAt,
    level: 2,
    isTitledByArticle: isTitled,
    articles: 'whole',
  } as const;
  // The title has the author's name unless it is an article's title.
  const author = { type: 'account', account: post.author, isBold: false } as const;
  const origin = writeFacts([...(isTitled ? [author] : []), ...originOf(post)]);
  const counts = writeFacts(present(describeCounts(post, view)));
  return [
    writeBlocks([...toContext(post, { thread, owner: null }), ...toContent(post, view)]),
    joinLines([`— ${origin}`, counts]),
  ];
}

function renderBlocks(result: PostPage, thread: Thread): readonly string[] {
  const { chain, replies } = placeThread(result.posts, thread, 2);
  const view = { full: result.full, fetchedAt: result.fetchedAt, articles: 'whole' } as const;
  const render = ({ post, place }: (typeof chain)[number]) => renderPostBlock(post, place, view);
  return [
    ...chain.map(render),
    ...(replies.length > 0 ? ['## Replies', ...replies.map(render)] : []),
  ];
}

function renderUserDetail({ userDetail, posts }: PostPage, { main }: Thread): string | null {
  if (userDetail === 'author') return main?.author ? renderAbout('## About', main.author) : null;
  const accounts = userDetail === 'all' ? findAccounts(posts) : [];
  if (accounts.length === 0) return null;
  return joinBlocks(['## Accounts', ...accounts.map((account) => renderAbout('###', account))]);
}

/** Renders a heading with author, time and position in a thread, then the content. */
export function renderPostBlock(
  post: Post,
  place: PostPlace,
  { full, fetchedAt, articles }: Pick<PostView, 'full' | 'fetchedAt' | 'articles'>,
): string {
  const { author, origin, labels } = toPostHead(post, place);
  const who = author === null ? [] : [{ type: 'account', account: author, isBold: false } as const];
  const heading = `${'#'.repeat(place.level)} ${writeFacts([...who, ...origin, ...labels])}`;
  const view = { full, fetchedAt, articles, level: place.level + 1, isTitledByArticle: false };
  return joinBlocks([heading, writeBlocks(toPostBlocks(post, place, view))]);
}
