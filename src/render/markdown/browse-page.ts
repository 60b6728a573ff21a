import { mapInSteps, type Steps } from '../../core/scheduling/slices.ts';
import type { Post } from '../../model/post.ts';
import type { BrowseItems, BrowseResult } from '../../model/results.ts';
import { headAccount, headHandle, renderAccountList, renderProfile } from './accounts.ts';
import { escapeInline, keepNumberSigns } from './escape.ts';
import { joinBlocks, joinFacts, labelled } from './layout.ts';
import { link, linkUrl } from './links.ts';
import { renderPostBlock } from './post-block.ts';
import { renderNotes } from './text.ts';
import { toThread } from './thread.ts';

/** Renders a browse read as a Markdown page (CommonMark, GitHub's tables). Each post is a step. */
export function* renderBrowsePage(result: BrowseResult): Steps<string> {
  const { profile, items, page, warnings, next } = result;
  const list = items === null ? null : yield* renderItems(items, result);
  return `${joinBlocks([
    `# ${keepNumberSigns(titleOf(result))}`,
    joinFacts([describeAbout(result), page > 1 ? `Page ${page}` : null]),
    result.degraded
      ? `*These results are not live; their source is ${escapeInline(result.source)}.*`
      : null,
    profile === null || page > 1 ? null : renderProfile(profile, result.full),
    list,
    renderNotes(warnings),
    // The last line, where it is easy to find, is below a rule that no post can write.
    next !== null && warnings.length === 0 ? '---' : null,
    next && link('Next page', next.url),
  ])}\n`;
}

function titleOf({ subject, profile }: BrowseResult): string {
  switch (subject.resource) {
    case 'profile':
      return profile === null ? headHandle(subject.handle, subject.url) : headAccount(profile);
    case 'followers':
      return `Followers of ${headHandle(subject.handle, subject.url)}`;
    case 'following':
      return `Accounts that ${headHandle(subject.handle, subject.url)} follows`;
    case 'replies': {
      const author = subject.answered?.author ?? null;
      const post = `the post ${escapeInline(subject.id)}`;
      return `Replies to ${author === null ? post : headAccount(author)}`;
    }
    case 'search':
      return `Search: ${escapeInline(subject.query)}`;
  }
}

function describeAbout({ subject, profile, page }: BrowseResult): string {
  switch (subject.resource) {
    case 'search':
      return labelled('Feed', subject.feed === 'latest' ? null : subject.feed);
    case 'replies':
      return labelled('Post', linkUrl(subject.url));
    default:
      return labelled('Profile', profile === null || page > 1 ? linkUrl(subject.url) : null);
  }
}

function* renderItems(items: BrowseItems, result: BrowseResult): Steps<string> {
  const heading = result.subject.resource === 'profile' ? '## Posts' : null;
  const rows =
    'posts' in items
      ? yield* mapInSteps(items.posts, (post) => renderPost(post, result))
      : [renderAccountList(items.users, result.full)];
  const list = joinBlocks(rows);
  return joinBlocks([heading, list === '' ? describeNothing(result) : list]);
}

function renderPost(post: Post, { subject, profile, full, fetchedAt }: BrowseResult): string {
  const answered = subject.resource === 'replies' ? subject.answered : null;
  const thread = toThread(answered === null ? [] : [answered]);
  // The posts of a profile are below a heading of their own.
  const level = subject.resource === 'profile' ? 3 : 2;
  const place = { thread, owner: profile, position: null, isMarked: false, level };
  return renderPostBlock(post, place, { full, fetchedAt, articles: 'preview' });
}

function describeNothing({ subject, page, next, degraded }: BrowseResult): string {
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
