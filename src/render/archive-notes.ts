import { toIsoSeconds } from '../lib/clock.ts';
import type { Account } from '../model/account.ts';
import { postUrl } from '../model/addresses/urls.ts';
import type { Status } from '../model/post.ts';
import type { Platform } from '../model/reference.ts';
import { nameAccount, renderProfile, titleAccount } from './markdown/blocks.ts';
import { cutLine, toLine } from './markdown/characters.ts';
import { escapeLine } from './markdown/escape.ts';
import { formatNumber, joinBlocks, joinLines, listItem } from './markdown/layout.ts';
import { link } from './markdown/links.ts';
import { renderFrontMatter, renderPostNote } from './obsidian.ts';

interface ThreadNote {
  readonly posts: readonly Status[];
  /** Time of the export from the platform, in Unix seconds. */
  readonly stored: number;
}

/** Renders a thread as a Markdown note: front matter, then the posts. */
export function renderThreadNote({ posts, stored }: ThreadNote): string {
  const note = renderPostNote({
    url: posts[0]?.url ?? '',
    posts: posts.map((post, at) => ({ ...post, context: at === 0 ? 'post' : 'thread' })),
    warnings: [],
    fetchedAt: toIsoSeconds(stored * 1000),
    source: 'archive',
    full: true,
    userDetail: 'off',
  });
  return note;
}

/** Renders front matter and title of the note with the reposts of a month like `2024-03`. */
export function renderRepostsHead(account: Account, month: string): string {
  const title = `Reposts of ${month}`;
  const front = renderFrontMatter({ title, handle: account.screen_name });
  return `${front}\n# ${title} by ${titleAccount(account)}\n`;
}

interface RepostLine {
  readonly platform: Platform;
  /** Time of the repost in Unix seconds. */
  readonly created: number;
  readonly postHandle: string;
  readonly postId: string;
  readonly post: Status | null;
}

const maxExcerpt = 280;

/** Renders a repost as a Markdown list item, after an empty line. */
export function renderRepost(repost: RepostLine): string {
  const { created, post, platform, postHandle: handle, postId: id } = repost;
  const name = post === null ? `@${handle}` : nameAccount(post.author);
  const url = post === null ? postUrl({ platform, handle, id }, '') : post.url;
  const head = `${toIsoSeconds(created * 1000)} ${link(name, url)}`;
  const excerpt = post === null ? '' : escapeLine(cutLine(toLine(post.text), maxExcerpt));
  return `\n${listItem(joinLines([head, excerpt]))}\n`;
}

export interface YearCount {
  readonly year: string;
  readonly threads: number;
  readonly posts: number;
  readonly reposts: number;
}

/** Renders the overview note of an export: the account's profile, and counts per year. */
export function renderArchiveIndex(account: Account, years: readonly YearCount[]): string {
  const front = renderFrontMatter({
    title: nameAccount(account),
    handle: account.screen_name,
    platform: account.platform,
    url: account.url,
  });
  const profile = renderProfile(account, true);
  return `${front}\n${joinBlocks([`# ${titleAccount(account)}`, profile, renderYears(years)])}\n`;
}

function renderYears(years: readonly YearCount[]): string {
  if (years.length === 0) return 'There are no posts.';
  const rows = years.map(({ year, threads, posts, reposts }) => {
    const counts = [threads, posts, reposts].map(formatNumber);
    // The function `link` would drop this relative URL.
    return `| [${year}](${year}/) | ${counts.join(' | ')} |`;
  });
  const table = ['| Year | Threads | Posts | Reposts |', '| --- | --: | --: | --: |', ...rows];
  return joinBlocks(['## Years', table.join('\n')]);
}
