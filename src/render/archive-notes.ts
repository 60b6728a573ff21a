import { toIsoSeconds } from '../core/clock.ts';
import { runAtOnce } from '../core/scheduling/slices.ts';
import type { Account } from '../model/account.ts';
import type { Status } from '../model/post.ts';
import { type Platform, postUrl } from '../model/reference.ts';
import { headAccount, nameAccount, renderProfile } from './markdown/accounts.ts';
import { cutLine, toLine } from './markdown/characters.ts';
import { escapeLine } from './markdown/escape.ts';
import { formatNumber, joinBlocks, joinLines, listItem } from './markdown/layout.ts';
import { link } from './markdown/links.ts';
import { renderFrontMatter, renderPostNote } from './obsidian.ts';

/** What an account posted at once: a post, or one with its author's continuation. */
export interface ThreadNote {
  /** In the order of time. */
  readonly posts: readonly Status[];
  /** When they were exported from their platform, in Unix seconds. */
  readonly stored: number;
}

/** Gives the note of a thread: front matter, then the posts with their times and counts. */
export function renderThreadNote({ posts, stored }: ThreadNote): string {
  const [first] = posts;
  const note = renderPostNote({
    kind: 'post',
    url: first?.url ?? '',
    embedUrl: '',
    posts: posts.map((post, at) => ({ ...post, context: at === 0 ? 'post' : 'thread' })),
    warnings: [],
    fetchedAt: toIsoSeconds(stored * 1000),
    source: 'archive',
    full: true,
    userDetail: 'off',
  });
  return runAtOnce(note);
}

/** Gives the beginning of the note of a month's reposts, such as of `2024-03`; their lines follow. */
export function renderRepostsHead(account: Account, month: string): string {
  const title = `Reposts of ${month}`;
  const front = renderFrontMatter({ title, handle: toLine(account.screen_name) });
  return `${front}\n# ${title} by ${headAccount(account)}\n`;
}

/** A post that an account passed on. */
export interface RepostLine {
  readonly platform: Platform;
  /** When it was passed on, in Unix seconds. */
  readonly created: number;
  readonly postHandle: string;
  readonly postId: string;
  /** Null where no more is known than its address. */
  readonly post: Status | null;
}

/** Code points of a post that a list shows. */
const maxExcerpt = 280;

/** Gives a repost as an item of a list, with an empty line before it. */
export function renderRepost(repost: RepostLine): string {
  const { created, post, platform, postHandle: handle, postId: id } = repost;
  const name = post === null ? `@${handle}` : nameAccount(post.author);
  const url = post === null ? postUrl({ platform, handle, id }, '') : post.url;
  const head = `${toIsoSeconds(created * 1000)} ${link(name, url)}`;
  const excerpt = post === null ? '' : escapeLine(cutLine(toLine(post.text), maxExcerpt));
  return `\n${listItem(joinLines([head, excerpt]), '- ')}\n`;
}

/** How much an account posted in a year. */
export interface YearCount {
  /** `2024`. */
  readonly year: string;
  readonly threads: number;
  readonly posts: number;
  readonly reposts: number;
}

/** Gives the note that an export begins with: the profile, and the years. */
export function renderArchiveIndex(account: Account, years: readonly YearCount[]): string {
  const front = renderFrontMatter({
    title: nameAccount(account),
    handle: toLine(account.screen_name),
    platform: account.platform,
    url: account.url,
  });
  return `${front}\n${joinBlocks([`# ${headAccount(account)}`, renderProfile(account, true), renderYears(years)])}\n`;
}

function renderYears(years: readonly YearCount[]): string {
  if (years.length === 0) return 'There are no posts.';
  const rows = years.map(({ year, threads, posts, reposts }) => {
    const counts = [threads, posts, reposts].map(formatNumber);
    // The address is made of digits: `link` takes those of the web alone.
    return `| [${year}](${year}/) | ${counts.join(' | ')} |`;
  });
  return [
    '## Years',
    '',
    '| Year | Threads | Posts | Reposts |',
    '| --- | --: | --: | --: |',
    ...rows,
  ].join('\n');
}
