import type { Post } from '../../model/post.ts';
import type { BrowseResult, PostResult } from '../../model/results.ts';
import {
  type PostPlace,
  type PostView,
  placeInList,
  placeThread,
  toPostBlocks,
  toPostHead,
} from '../blocks/post.ts';
import type { RenderContext } from '../context.ts';
import { writeAccount, writeBlocks, writeFacts } from '../html/blocks.ts';
import { escapeLine } from '../html/escape.ts';
import { renderAvatar } from '../html/figures.ts';
import { heading, joinParts, paragraph, renderList } from '../html/markup.ts';
import { nameAccount } from '../markdown/accounts.ts';
import { describeEmptyList, titleBrowsePage } from '../markdown/browse-page.ts';
import { joinFacts } from '../markdown/layout.ts';
import { headPostPage, isTitledByArticle, titlePostPage } from '../markdown/post-page.ts';
import { findAccounts, type Thread, toThread } from '../markdown/thread.ts';
import { renderAccountList, renderProfile, renderProfileHead } from './accounts.ts';
import { renderPaging, renderSearchForm, renderTabs } from './navigation.ts';
import { createPageView, type PageView } from './view.ts';

/** Title as plain text, and content as HTML including the title as a heading. */
export interface ResultHtml {
  readonly title: string;
  readonly html: string;
}

export interface ResultOptions extends RenderContext {
  readonly level: number;
}

/** Renders the content of a page without scripts. */
export function renderResult(
  result: PostResult | BrowseResult,
  options: ResultOptions,
): ResultHtml {
  const view = createPageView(result, options);
  const isPost = result.kind === 'post';
  const content = isPost
    ? renderThread(result, options.level, view)
    : renderListPage(result, options.level, view);
  return {
    title: isPost ? titlePostPage(result) : titleBrowsePage(result),
    html: `${joinParts(content)}\n`,
  };
}

function renderNotes(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const notes = renderList(warnings.map(escapeLine));
  return `<div class="notes">\n${paragraph('<strong>Notes</strong>')}\n${notes}\n</div>`;
}

function renderThread(result: PostResult, level: number, view: PageView): string[] {
  const thread = toThread(result.posts);
  const isTitled = isTitledByArticle(result.posts, thread.main);
  const { chain, replies } = placeThread(result.posts, thread, level + 1);
  const render = ({ post, place }: (typeof chain)[number]) =>
    renderPost(post, { ...place, isTitledByArticle: isTitled, articles: 'whole' }, view);
  return [
    heading(level, escapeLine(headPostPage(result))),
    ...chain.map(render),
    ...(replies.length > 0 ? [heading(level + 1, 'Replies'), ...replies.map(render)] : []),
    ...renderUserDetail(result, thread, level + 1, view),
    renderNotes(result.warnings),
  ];
}

function renderUserDetail(
  { userDetail, posts }: PostResult,
  { main }: Thread,
  level: number,
  view: PageView,
): readonly string[] {
  const brief = { ...view, full: false };
  if (userDetail === 'author') {
    if (!main?.author) return [];
    const title = `About ${escapeLine(nameAccount(main.author))}`;
    return [heading(level, title), renderProfile(main.author, brief)];
  }
  const accounts = userDetail === 'all' ? findAccounts(posts) : [];
  if (accounts.length === 0) return [];
  return [
    heading(level, 'Accounts'),
    ...accounts.flatMap((account) => [
      heading(level + 1, escapeLine(nameAccount(account))),
      renderProfile(account, brief),
    ]),
  ];
}

function renderListPage(result: BrowseResult, level: number, view: PageView): string[] {
  const { warnings, degraded, source } = result;
  const paging = renderPaging(result, view); // first, because the number of links is limited
  const origin = `<em>These results are not live; their source is ${escapeLine(source)}.</em>`;
  return [
    ...renderListHead(result, level, view),
    renderTabs(result, view),
    renderSearchForm(result, view),
    degraded ? paragraph(origin) : '',
    ...renderItems(result, level + 1, view),
    renderNotes(warnings),
    paging,
  ];
}

function renderListHead(result: BrowseResult, level: number, view: PageView): readonly string[] {
  const { profile, page } = result;
  if (profile !== null && page === 1) return [renderProfileHead(profile, level, view)];
  const about = joinFacts([describeAbout(result, view), page > 1 ? `Page ${page}` : null]);
  return [heading(level, escapeLine(titleBrowsePage(result))), paragraph(about, 'facts')];
}

function renderItems(result: BrowseResult, level: number, view: PageView): string[] {
  const { items } = result;
  if (items === null) return [];
  const [first] = 'posts' in items ? items.posts : items.users;
  if (first === undefined) return [paragraph(describeEmptyList(result), 'empty')];
  if ('users' in items) return [renderAccountList(items.users, view)];
  const place = {
    ...placeInList(result, level),
    isTitledByArticle: false,
    articles: 'preview',
  } as const;
  return items.posts.map((post) => renderPost(post, place, view));
}

function describeAbout({ subject }: BrowseResult, { links }: PageView): string {
  switch (subject.resource) {
    case 'search':
      return subject.feed === 'latest' ? '' : `Feed: ${subject.feed}`;
    case 'replies':
      return `Post: ${links.link(subject.url, subject.url)}`;
    default:
      return ''; // the tabs link to the profile
  }
}

interface PagePlace extends PostPlace, Pick<PostView, 'isTitledByArticle' | 'articles'> {}

function renderPost(post: Post, place: PagePlace, view: PageView): string {
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
