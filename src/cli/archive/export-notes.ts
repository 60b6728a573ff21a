import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ArchiveStore } from '../../archive/store/store.ts';
import type { HistoryPost } from '../../archive/store/timeline.ts';
import { toIsoSeconds } from '../../lib/clock.ts';
import { makeFolder } from '../../lib/files/private-files.ts';
import { toFileId } from '../../lib/text.ts';
import type { Account } from '../../model/account.ts';
import { postUrl } from '../../model/addresses/urls.ts';
import type { Status } from '../../model/post.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import { nameAccount, renderProfile, titleAccount } from '../../render/markdown/blocks.ts';
import { cutLine, toLine } from '../../render/markdown/characters.ts';
import { escapeLine } from '../../render/markdown/escape.ts';
import { formatNumber, joinBlocks, joinLines, listItem } from '../../render/markdown/layout.ts';
import { link } from '../../render/markdown/links.ts';
import { renderFrontMatter, renderPostNote } from '../../render/obsidian.ts';
import { CommandError } from '../command.ts';
import type { MediaExport } from './export.ts';

interface MarkdownExport {
  readonly store: ArchiveStore;
  readonly owner: AccountReference;
  readonly account: Account;
  readonly folder: ExportFolder;
  readonly media: MediaExport;
  /** Signal that stops the export. Files that were already written remain. */
  readonly signal: AbortSignal;
}

const pageRows = 200;

/** Exports an account. The result depends only on the archive, not on earlier exports. */
export async function exportMarkdown(options: MarkdownExport) {
  const { account, folder, media, signal } = options;
  const years: Years = new Map();
  await writeThreads(options, years);
  await writeReposts(options, years);
  const counted = [...years.values()].toSorted((a, b) => (a.year < b.year ? -1 : 1));
  if (!signal.aborted) {
    folder.write('index.md', media.localize(renderArchiveIndex(account, counted), ''));
    folder.removeOthers();
  }
  return { years: counted, isWhole: !signal.aborted };
}

type Years = Map<string, { -readonly [Name in keyof YearCount]: YearCount[Name] }>;

function yearOf(created: number, years: Years) {
  const year = toMonth(created).slice(0, 4);
  const counts = years.get(year) ?? { year, threads: 0, posts: 0, reposts: 0 };
  years.set(year, counts);
  return counts;
}

async function* readRows<Row extends { readonly number: number }>(
  readPage: (after: number) => readonly Row[],
  signal: AbortSignal,
): AsyncGenerator<Row, void, undefined> {
  for (let rows = readPage(-1); rows.length > 0 && !signal.aborted; ) {
    yield* rows;
    await setImmediate();
    rows = readPage(rows.at(-1)?.number ?? -1);
  }
}

async function writeThreads(options: MarkdownExport, years: Years): Promise<void> {
  const { store, owner, signal } = options;
  const read = (after: number) => store.readHistory(owner, after, pageRows);
  for await (const row of readRows(read, signal)) {
    const year = yearOf(row.created, years);
    year.posts += 1;
    if (row.continues) continue;
    year.threads += 1;
    writeThread(row, options);
  }
}

function writeThread(first: HistoryPost, { store, owner, folder, media }: MarkdownExport): void {
  const found = [first];
  // A post continues only one other post, so no post is found twice.
  for (const post of found) found.push(...store.readContinuations(owner, post));
  const thread = found.toSorted((a, b) => a.number - b.number);
  const name = toNoteName(toIsoSeconds(first.created * 1000).slice(0, 10), first.post.id);
  const stored = Math.min(...thread.map((post) => post.stored));
  const note = renderThreadNote({ posts: thread.map(({ post }) => post), stored });
  folder.write(`${toMonth(first.created)}/${name}`, media.localize(note, '../../'));
}

async function writeReposts(options: MarkdownExport, years: Years): Promise<void> {
  const { store, owner, account, folder, signal } = options;
  let month = '';
  let lines: string[] = [];
  const endMonth = () => {
    const head = renderRepostsHead(account, month.replace('/', '-'));
    if (lines.length > 0) folder.write(`${month}/reposts.md`, [head, ...lines].join(''));
    lines = [];
  };
  const read = (after: number) => store.readReposts(owner, after, pageRows);
  for await (const row of readRows(read, signal)) {
    const monthOfRow = toMonth(row.created);
    if (monthOfRow !== month) endMonth();
    month = monthOfRow;
    lines.push(renderRepost({ ...row, platform: owner.platform }));
    yearOf(row.created, years).reposts += 1;
  }
  if (!signal.aborted) endMonth();
}

function toMonth(seconds: number): string {
  return toIsoSeconds(seconds * 1000)
    .slice(0, 7)
    .replace('-', '/');
}

/** Folder with the Markdown export of an account. Files of other origin are never changed. */
export type ExportFolder = ReturnType<typeof openExportFolder>;

const markerName = '.perch-export.json';

/** Creates a missing folder. @throws CommandError unless it has only exports of this account */
export function openExportFolder(root: string, account: AccountReference) {
  claimFolder(root, `${JSON.stringify({ format: 'markdown', ...account })}\n`);
  const counts = { written: 0, same: 0, removed: 0 };
  const exported = new Set<string>();
  return {
    counts: counts as Readonly<typeof counts>,
    /** Does nothing if the file already has this content. */
    write: (file: string, content: string) => {
      exported.add(file);
      const path = join(root, file);
      if (existsSync(path) && readFileSync(path, 'utf8') === content) {
        counts.same += 1;
        return;
      }
      makeFolder(dirname(path));
      writeFileSync(path, content);
      counts.written += 1;
    },
    /** Copies an archived file, unless the path already has a file of the same size. */
    copy: (file: string, { from, bytes }: { readonly from: string; readonly bytes: number }) => {
      exported.add(file);
      const path = join(root, file);
      if (statSync(path, { throwIfNoEntry: false })?.size === bytes) {
        counts.same += 1;
        return;
      }
      makeFolder(dirname(path));
      copyFileSync(from, path, constants.COPYFILE_FICLONE);
      chmodSync(path, 0o644);
      counts.written += 1;
    },
    /** Deletes the notes and media files of earlier exports that this one did not write. */
    removeOthers: () => {
      for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        if (!exportedFile.test(file) || exported.has(file)) continue;
        rmSync(join(root, file));
        counts.removed += 1;
      }
    },
  };
}

const exportedFile =
  /^(?:media\/[0-9a-f]{64}\.\w{1,5}|\d{4}\/\d\d\/(?:\d{4}-\d\d-\d\d-[a-z0-9_=-]+|reposts)\.md)$/;

function claimFolder(root: string, marker: string): void {
  if (existsSync(root) && !statSync(root).isDirectory())
    throw new CommandError('usage', `${root} is not a folder. Set --output to a folder.`);
  makeFolder(root);
  const path = join(root, markerName);
  if (existsSync(path)) {
    if (readFileSync(path, 'utf8') === marker) return;
    throw new CommandError('usage', `${root} contains the export of another account.`);
  }
  if (readdirSync(root).length > 0) {
    throw new CommandError('usage', `${root} contains other files. Choose an empty folder.`);
  }
  writeFileSync(path, marker);
}

export const toNoteName = (day: string, id: string): string => `${day}-${toFileId(id)}.md`;

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
