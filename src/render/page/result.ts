import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { ListResult, PostResult } from '../../model/results.ts';
import { listProfileFacts, toAccountRow, toProfileHead } from '../blocks/block.ts';
import {
  type PostPlace,
  type PostView,
  placeInList,
  placeThread,
  toPostBlocks,
  toPostHead,
} from '../blocks/post.ts';
import type { RenderContext } from '../context.ts';
import { writeAccount, writeBlocks, writeFacts, writeWords } from '../html/blocks.ts';
import {
  escapeHtml,
  escapeLine,
  heading,
  joinParts,
  paragraph,
  renderList,
} from '../html/markup.ts';
import { renderAvatar } from '../html/pictures.ts';
import { renderParagraphs } from '../html/text.ts';
import { nameAccount } from '../markdown/blocks.ts';
import { describeEmptyList, titleBrowsePage } from '../markdown/browse-page.ts';
import { toLine } from '../markdown/characters.ts';
import { formatNumber, joinFacts } from '../markdown/layout.ts';
import { headPostPage, isTitledByArticle, titlePostPage } from '../markdown/post-page.ts';
import { findAccounts, type Thread, toThread } from '../markdown/thread.ts';
import {
  createPageView,
  type PageView,
  renderPaging,
  renderSearchForm,
  renderTabs,
  toListUrl,
} from './view.ts';

/** Title as plain text, and content as HTML including the title as a heading. */
export interface ResultHtml {
  readonly title: string;
  readonly html: string;
}

export interface ResultOptions extends RenderContext {
  readonly level: number;
}

/** Renders the content of a page without scripts. */
export function renderResult(result: PostResult | ListResult, options: ResultOptions): ResultHtml {
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

function renderListPage(result: ListResult, level: number, view: PageView): string[] {
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

function renderListHead(result: ListResult, level: number, view: PageView): readonly string[] {
  const { profile, page } = result;
  if (profile !== null && page === 1) return [renderProfileHead(profile, level, view)];
  const about = joinFacts([describeAbout(result, view), page > 1 ? `Page ${page}` : null]);
  return [heading(level, escapeLine(titleBrowsePage(result))), paragraph(about, 'facts')];
}

function renderItems(result: ListResult, level: number, view: PageView): string[] {
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

function describeAbout({ subject }: ListResult, { links }: PageView): string {
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

const largeAvatar = 96;
const smallAvatar = 48;

function renderProfileHead(account: Account, level: number, view: PageView): string {
  const { description, description_facets: facets = [], screen_name: handle } = account;
  const { facts, counts, details } = toProfileHead(account, view.full);
  const [open, close] = view.links.toTags(account.url);
  const linked = `${open}<bdi>${escapeLine(`@${handle}`)}</bdi>${close}`;
  const name = toLine(account.name).trim();
  const title = name === '' ? linked : `<bdi>${escapeLine(name)}</bdi>`;
  const links = counts.map(({ list, count, label }) => {
    const [start, end] = view.links.toTags(toListUrl(handle, list, view));
    return `<li>${start}<strong>${formatNumber(count)}</strong> ${label}${end}</li>`;
  });
  const tag = `h${Math.min(level, 6)}`;
  return `<header class="profile-head">\n${joinParts([
    renderBanner(account, view),
    renderPortrait(account, view, largeAvatar),
    `<${tag}>${title}</${tag}>`,
    name === '' ? '' : `<p class="handle">${linked}</p>`,
    renderParagraphs(description ?? '', facets, { toLinkTags: view.links.toTags }),
    paragraph(writeFacts(facts, view), 'facts'),
    links.length === 0 ? '' : `<ul class="numbers">\n${links.join('\n')}\n</ul>`,
    renderList(
      details.map((detail) => writeWords(detail, view)),
      'profile-facts',
    ),
  ])}\n</header>`;
}

function renderBanner({ banner_url: url }: Account, view: PageView): string {
  const source = url === null ? null : view.toPictureUrl(url);
  if (source === null) return '';
  return `<img class="banner" src="${escapeHtml(source)}" alt="" width="1500" height="500" decoding="async" referrerpolicy="no-referrer" />`;
}

function renderPortrait(account: Account, view: PageView, pixels = smallAvatar): string {
  const avatar = renderAvatar(account.avatar_url, view, pixels);
  if (avatar !== '') return avatar;
  const text = `${toLine(account.name)}${account.screen_name}`;
  const initial = /[\p{L}\p{N}\p{Emoji_Presentation}]/u.exec(text)?.[0] ?? '@';
  return `<span class="avatar initial" aria-hidden="true">${escapeLine(initial)}</span>`;
}

function renderProfile(account: Account, view: PageView): string {
  const { description, description_facets: facets = [], avatar_url: avatar } = account;
  const facts = listProfileFacts(account, view.full).map((fact) => writeWords(fact, view));
  return `<div class="profile">\n${joinParts([
    paragraph(renderAvatar(avatar, view)),
    renderParagraphs(description ?? '', facets, { toLinkTags: view.links.toTags }),
    renderList(facts, 'profile-facts'),
  ])}\n</div>`;
}

function renderAccountList(accounts: readonly Account[], view: PageView): string {
  const rows = accounts.map((account) => renderAccount(account, view));
  return `<ul class="accounts">\n${rows.join('\n')}\n</ul>`;
}

function renderAccount(account: Account, view: PageView): string {
  const { facts, biography, details } = toAccountRow(account, view.full);
  // The row has no direction of its own, so that all pictures are on the same side.
  return `<li>\n${joinParts([
    renderPortrait(account, view),
    `<p class="who">${writeAccount(account, view, true)}</p>`,
    paragraph(writeWords(biography, view)),
    paragraph(writeFacts([...facts, ...details], view), 'facts'),
  ])}\n</li>`;
}
