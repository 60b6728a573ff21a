import type { Post, Status } from '../../model/post.ts';
import { linkAccount, linkHandle } from './accounts.ts';
import { joinBlocks, joinFacts } from './layout.ts';
import { link } from './links.ts';
import {
  linkDate,
  type PostView,
  renderContent,
  renderFacts,
  renderTombstone,
} from './post-content.ts';
import { answersElsewhere, type Thread } from './thread.ts';

/** Where a post stands on a page of several. */
export interface BlockPlace {
  readonly thread: Thread;
  /** `2/5` in a thread by one author. */
  readonly position: string | null;
  /** True marks the post as the one that was asked for. */
  readonly isMarked: boolean;
}

/** Gives a post of several as a block under a heading that says who, when, and where in a thread. */
export function renderPostBlock(post: Post, place: BlockPlace, view: PostView): string {
  const facts = [place.position, place.isMarked ? '*requested post*' : null];
  const heading = `### ${joinFacts([...headingOf(post), ...facts])}`;
  if (post.type === 'tombstone') return joinBlocks([heading, renderTombstone(post)]);
  return joinBlocks([
    heading,
    renderOrigin(post, place.thread),
    renderContent(post, view),
    renderFacts(post, view),
  ]);
}

function headingOf(post: Post): readonly string[] {
  if (post.type === 'status') return [linkAccount(post.author), linkDate(post)];
  return post.author === null ? ['Unavailable post'] : [linkAccount(post.author), 'unavailable'];
}

/** Gives the line that says what a post answers and who passed it on, where the page does not. */
export function renderOrigin(post: Status, thread: Thread): string {
  return joinBlocks([
    post.reposted_by === null ? null : `*Reposted by ${linkAccount(post.reposted_by)}*`,
    answersElsewhere(post, thread) ? `*${describeTarget(post.replying_to)}*` : null,
  ]);
}

function describeTarget(target: Status['replying_to']): string {
  const url = target?.url ?? null;
  const handle = target?.screen_name ?? null;
  return `In reply to ${handle === null ? link('another post', url) : linkHandle(handle, url)}`;
}
