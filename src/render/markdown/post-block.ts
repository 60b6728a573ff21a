import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import { linkAccount, linkHandle } from './accounts.ts';
import { linkCopy } from './copies.ts';
import { joinBlocks, joinFacts } from './layout.ts';
import { link } from './links.ts';
import {
  originOf,
  type PostView,
  renderContent,
  renderFacts,
  renderTombstone,
} from './post-content.ts';
import { answersElsewhere, isSameAccount, type Thread } from './thread.ts';

/** What a page says of a post's surroundings. */
export interface Surroundings {
  readonly thread: Thread;
  /** The account that the page is about, which is not named with each of its posts; else null. */
  readonly owner: Account | null;
}

/** Where a post stands on a page of several. */
export interface BlockPlace extends Surroundings {
  /** `2/5` in a thread by one author. */
  readonly position: string | null;
  /** True marks the post as the one that was asked for. */
  readonly isMarked: boolean;
  /** The level of its heading. */
  readonly level: number;
}

/** Returns a post of several as a block under a heading that says who, when, and where in a thread. */
export function renderPostBlock(
  post: Post,
  place: BlockPlace,
  options: Pick<PostView, 'full' | 'fetchedAt' | 'articles'>,
): string {
  const facts = [place.position, place.isMarked ? '*requested post*' : null];
  const marks = '#'.repeat(place.level);
  const heading = `${marks} ${joinFacts([...headingOf(post, place.owner), ...facts])}`;
  if (post.type === 'tombstone') return joinBlocks([heading, renderTombstone(post)]);
  const view: PostView = { ...options, level: place.level + 1, isTitledByArticle: false };
  return joinBlocks([
    heading,
    renderOrigin(post, place),
    renderContent(post, view),
    renderFacts(post, view),
  ]);
}

function headingOf(post: Post, owner: Account | null): readonly (string | null)[] {
  const { author } = post;
  const who = author === null || isSameAccount(author, owner) ? null : linkAccount(author);
  if (post.type === 'status') return [who, ...originOf(post)];
  return who === null ? ['Unavailable post'] : [who, 'unavailable'];
}

/** Gives the line that says what a post answers and who passed it on, where the page does not. */
export function renderOrigin(post: Status, { thread, owner }: Surroundings): string {
  return joinBlocks([
    describeReposter(post.reposted_by, owner),
    post.community === undefined ? null : `*In ${link(post.community.name, post.community.url)}*`,
    answersElsewhere(post, thread) ? `*${describeTarget(post.replying_to)}*` : null,
  ]);
}

function describeReposter(reposter: Account | null, owner: Account | null): string | null {
  if (reposter === null) return null;
  const { screen_name: handle, url } = reposter;
  const who = isSameAccount(reposter, owner) ? linkHandle(handle, url) : linkAccount(reposter);
  return `*${joinFacts([`Reposted by ${who}`, linkCopy(reposter)])}*`;
}

function describeTarget(target: Status['replying_to']): string {
  const url = target?.url ?? null;
  const handle = target?.screen_name ?? null;
  return `In reply to ${handle === null ? link('another post', url) : linkHandle(handle, url)}`;
}
