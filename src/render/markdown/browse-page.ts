import type { Account } from '../../model/account.ts';
import type { ListItems, ListResult } from '../../model/results.ts';
import { placeInList } from '../blocks/post.ts';
import {
  nameAccount,
  renderAccountList,
  renderProfile,
  titleAccount,
  titleHandle,
} from './blocks.ts';
import { toLine } from './characters.ts';
import { escapeInline, keepNumberSigns } from './escape.ts';
import { joinBlocks, joinFacts, labelled } from './layout.ts';
import { link, linkUrl } from './links.ts';
import { renderPostBlock } from './post-page.ts';
import { renderNotes } from './text.ts';

/** Renders CommonMark with GitHub's tables. */
export function renderBrowsePage(result: ListResult): string {
  const { profile, items, page, warnings, next } = result;
  const list = items === null ? null : renderItems(items, result);
  return `${joinBlocks([
    `# ${keepNumberSigns(titleOf(result, markdownStyle))}`,
    joinFacts([describeAbout(result), page > 1 ? `Page ${page}` : null]),
    result.degraded
      ? `*These results are not live; their source is ${escapeInline(result.source)}.*`
      : null,
    profile === null || page > 1 ? null : renderProfile(profile, result.full),
    list,
    renderNotes(warnings),
    // The link to the next page is the last line, below a thematic break, which no post can
    // contain.
    next !== null && warnings.length === 0 ? '---' : null,
    next && link('Next page', next.url),
  ])}\n`;
}

interface TitleStyle {
  account(account: Account): string;
  handle(handle: string, url: string): string;
  text(text: string): string;
}

const markdownStyle: TitleStyle = {
  account: titleAccount,
  handle: titleHandle,
  text: escapeInline,
};

export const titleBrowsePage = (result: ListResult): string =>
  titleOf(result, { account: nameAccount, handle: (handle) => `@${toLine(handle)}`, text: toLine });

function titleOf({ subject, profile }: ListResult, style: TitleStyle): string {
  switch (subject.resource) {
    case 'profile':
      return profile === null ? style.handle(subject.handle, subject.url) : style.account(profile);
    case 'followers':
      return `Followers of ${style.handle(subject.handle, subject.url)}`;
    case 'following':
      return `Accounts that ${style.handle(subject.handle, subject.url)} follows`;
    case 'replies': {
      const author = subject.answered?.author ?? null;
      const post = `the post ${style.text(subject.id)}`;
      return `Replies to ${author === null ? post : style.account(author)}`;
    }
    case 'search':
      return `Search: ${style.text(subject.query)}`;
  }
}

function describeAbout({ subject, profile, page }: ListResult): string {
  switch (subject.resource) {
    case 'search':
      return labelled('Feed', subject.feed === 'latest' ? null : subject.feed);
    case 'replies':
      return labelled('Post', linkUrl(subject.url));
    default:
      return labelled('Profile', profile === null || page > 1 ? linkUrl(subject.url) : null);
  }
}

function renderItems(items: ListItems, result: ListResult): string {
  const heading = result.subject.resource === 'profile' ? '## Posts' : null;
  const place = placeInList(result, heading === null ? 2 : 3);
  const rows =
    'posts' in items
      ? items.posts.map((post) => renderPostBlock(post, place, { ...result, articles: 'preview' }))
      : [renderAccountList(items.users, result.full)];
  const list = joinBlocks(rows);
  return joinBlocks([heading, list === '' ? describeEmptyList(result) : list]);
}

export function describeEmptyList({ subject, page, next, degraded }: ListResult): string {
  if (page > 1 || next !== null) return 'Nothing on this page.';
  switch (subject.resource) {
    case 'profile':
      return 'No posts.';
    case 'followers':
    case 'following':
      return 'No accounts to show.';
    case 'replies':
      return 'No replies.';
    case 'search':
      return degraded
        ? 'Nothing found here; the platform may well have something.'
        : 'Nothing found.';
  }
}
