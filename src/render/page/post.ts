import type { Steps } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import { isReplyTargetElsewhere, isSameAccount, type Thread } from '../markdown/thread.ts';
import { renderAuthor, renderOrigin } from './accounts.ts';
import { describeCounts, describeTimes, renderContent, renderTombstone } from './content.ts';
import { heading, joinFacts, joinParts, paragraph } from './markup.ts';
import { renderAvatar } from './media.ts';
import type { PageView } from './view.ts';

/** Options for rendering a post at one place of a page. */
interface PostPlace {
  readonly thread: Thread;
  /**
   * Account whose profile page is rendered; `null` on other pages. Posts by this account are shown
   * without the author's name.
   */
  readonly owner: Account | null;
  /** Position in a thread by one author, such as `2/5`; `null` for other posts. */
  readonly position: string | null;
  readonly isRequested: boolean;
  /** Level of the post's heading. */
  readonly level: number;
  /** Whether the page's title is already the title of the post's article. */
  readonly isTitledByArticle: boolean;
  readonly articles: 'whole' | 'preview';
}

/**
 * Renders a post as an `article` element: the author, the time, the content and the counts. Yields
 * after each block of an article to let other tasks run.
 */
export function* renderPost(post: Post, place: PostPlace, view: PageView): Steps<string> {
  const kind = place.isRequested ? 'post requested' : 'post';
  const head = renderHeader(post, place, view);
  const body = yield* renderBody(post, place, view);
  return `<article class="${kind}">\n<header>\n${head}\n</header>\n${body}\n</article>`;
}

function renderHeader(post: Post, { level, owner, ...place }: PostPlace, view: PageView): string {
  const author = post.author !== null && isSameAccount(post.author, owner) ? null : post.author;
  const times = post.type === 'status' ? joinFacts(describeTimes(post, view)) : '';
  const labels = [place.position, place.isRequested ? '<em>requested post</em>' : null];
  if (author === null) {
    // The heading is the time if the page already shows the author, or the author is unknown.
    const title = heading(level, times || 'Unavailable post');
    return joinParts([title, paragraph(joinFacts(labels), 'facts')]);
  }
  return joinParts([
    renderAvatar(author.avatar_url, view),
    heading(level, renderAuthor(author, view)),
    paragraph(joinFacts([times, ...labels]), 'facts'),
  ]);
}

function* renderBody(post: Post, place: PostPlace, view: PageView): Steps<string> {
  if (post.type === 'tombstone') return renderTombstone(post, view);
  return joinParts([
    renderContext(post, place, view),
    yield* renderContent(post, { ...place, level: place.level + 1 }, view),
    paragraph(describeCounts(post, view), 'counts'),
  ]);
}

/**
 * Renders the lines “Reposted by”, “In” (community) and “In reply to” of a post. Omits “In reply to” if the
 * replied-to post is part of `thread`.
 */
function renderContext(post: Status, { owner, thread }: PostPlace, view: PageView): string {
  const { reposted_by: reposter, community, replying_to: target } = post;
  const { links } = view;
  const handle = target?.screen_name ?? null;
  const answered = handle === null ? 'another post' : `@${handle}`;
  const isElsewhere = isReplyTargetElsewhere(post, thread);
  return joinParts([
    reposter === null ? null : paragraph(describeReposter(reposter, owner, view), 'context'),
    community === undefined
      ? null
      : paragraph(`In ${links.link(community.name, community.url)}`, 'context'),
    isElsewhere
      ? paragraph(`In reply to ${links.link(answered, target?.url ?? null)}`, 'context')
      : null,
  ]);
}

function describeReposter(reposter: Account, owner: Account | null, view: PageView): string {
  const { links } = view;
  const who = isSameAccount(reposter, owner)
    ? links.link(`@${reposter.screen_name}`, reposter.url)
    : renderAuthor(reposter, view);
  return joinFacts([`Reposted by ${who}`, renderOrigin(reposter, links)]);
}
