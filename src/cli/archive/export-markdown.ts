import { setImmediate } from 'node:timers/promises';
import type { HistoryPost } from '../../archive/histories/history.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { toIsoSeconds } from '../../core/clock.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import {
  renderArchiveIndex,
  renderRepost,
  renderRepostsHead,
  renderThreadNote,
  type YearCount,
} from '../../render/archive-notes.ts';
import { type ExportFolder, toNoteName } from './export-folder.ts';

/** What an export to Markdown needs. */
export interface MarkdownExport {
  readonly store: ArchiveStore;
  readonly owner: AccountReference;
  readonly account: Account;
  readonly folder: ExportFolder;
  /** Stops it between two pages; what was written stays. */
  readonly signal: AbortSignal;
}

/** How much was exported. */
export interface ExportedHistory {
  readonly years: readonly YearCount[];
  /** False where it was stopped. */
  readonly isWhole: boolean;
}

/** Rows that are read at once. */
const pageRows = 200;

/**
 * Writes an account's archive as notes: `2024/03/2024-03-09-ID.md` for each thread, `2024/03/reposts.md`
 * and `index.md`. The same archive gives the same files, whatever of them is there already.
 */
export async function exportMarkdown(options: MarkdownExport): Promise<ExportedHistory> {
  const { account, folder, signal } = options;
  const years = createYears();
  await writeThreads(options, years);
  await writeReposts(options, years);
  const counted = years.list();
  if (!signal.aborted) folder.write('index.md', renderArchiveIndex(account, counted));
  return { years: counted, isWhole: !signal.aborted };
}

/** Counts by year. */
function createYears() {
  const years = new Map<string, YearCount>();
  return {
    add: (created: number, more: Partial<Omit<YearCount, 'year'>>) => {
      const year = toMonth(created).slice(0, 4);
      const { threads = 0, posts = 0, reposts = 0 } = more;
      const before = years.get(year) ?? { threads: 0, posts: 0, reposts: 0 };
      years.set(year, {
        year,
        threads: before.threads + threads,
        posts: before.posts + posts,
        reposts: before.reposts + reposts,
      });
    },
    list: (): readonly YearCount[] =>
      [...years.values()].toSorted((a, b) => (a.year < b.year ? -1 : 1)),
  };
}

type Years = ReturnType<typeof createYears>;

/** Reads page after page, until there is none or it is stopped. */
async function* readPages<Row extends { readonly number: number }>(
  read: (after: number) => readonly Row[],
  signal: AbortSignal,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let rows = read(-1); rows.length > 0 && !signal.aborted; ) {
    yield rows;
    await setImmediate();
    rows = read(rows.at(-1)?.number ?? -1);
  }
}

/** Posts come in the order of time, so a month is whole when the next one begins. */
async function writeThreads(options: MarkdownExport, years: Years): Promise<void> {
  const { store, owner, folder, signal } = options;
  const months = createMonths((month, names: readonly string[]) =>
    folder.keepOnly(month, new Set(names)),
  );
  const read = (after: number) => store.readHistory(owner, after, pageRows);
  for await (const rows of readPages(read, signal)) {
    for (const row of rows) {
      if (!row.continues) months.add(toMonth(row.created), writeThread(row, options));
      years.add(row.created, { threads: row.continues ? 0 : 1, posts: 1 });
    }
  }
  if (!signal.aborted) months.end(listMonths(folder));
}

/** Gives the name of the note. */
function writeThread(first: HistoryPost, { store, owner, folder }: MarkdownExport): string {
  const posts = gatherThread(first, (to) => store.readContinuations(owner, to));
  const name = toNoteName(toIsoSeconds(first.created * 1000).slice(0, 10), first.post.id);
  const stored = Math.min(...posts.map((post) => post.stored));
  const note = renderThreadNote({ posts: posts.map(({ post }) => post), stored });
  folder.write(`${toMonth(first.created)}/${name}`, note);
  return name;
}

/** A post goes on from one post only, so none is found twice. */
function gatherThread(
  first: HistoryPost,
  readNext: (to: HistoryPost) => readonly HistoryPost[],
): readonly HistoryPost[] {
  const thread = [first];
  for (const post of thread) thread.push(...readNext(post));
  return thread.toSorted((a, b) => a.number - b.number);
}

async function writeReposts(options: MarkdownExport, years: Years): Promise<void> {
  const { store, owner, account, folder, signal } = options;
  const months = createMonths((month, lines: readonly string[]) => {
    const path = `${month}/reposts.md`;
    if (lines.length === 0) folder.remove(path);
    else
      folder.write(path, `${renderRepostsHead(account, month.replace('/', '-'))}${lines.join('')}`);
  });
  const read = (after: number) => store.readReposts(owner, after, pageRows);
  for await (const rows of readPages(read, signal)) {
    for (const row of rows) {
      months.add(toMonth(row.created), renderRepost({ ...row, platform: owner.platform }));
      years.add(row.created, { reposts: 1 });
    }
  }
  if (!signal.aborted) months.end(listMonths(folder));
}

/** Gathers what belongs to a month, given in the order of time, and ends each month once. */
function createMonths<Item>(endMonth: (month: string, items: readonly Item[]) => void) {
  const ended = new Set<string>();
  let current: string | null = null;
  let items: Item[] = [];
  const end = () => {
    if (current === null) return;
    endMonth(current, items);
    ended.add(current);
    items = [];
  };
  return {
    add: (month: string, item: Item) => {
      if (month !== current) end();
      current = month;
      items.push(item);
    },
    /** Ends the last month, and those of an earlier export that have nothing any more. */
    end: (all: readonly string[]) => {
      end();
      for (const month of all) if (!ended.has(month)) endMonth(month, []);
    },
  };
}

function listMonths(folder: ExportFolder): readonly string[] {
  const years = folder.folders('').filter((name) => /^\d{4}$/.test(name));
  return years.flatMap((year) =>
    folder.folders(year).flatMap((month) => (/^\d\d$/.test(month) ? [`${year}/${month}`] : [])),
  );
}

/** Gives `2024/03`. */
function toMonth(seconds: number): string {
  return toIsoSeconds(seconds * 1000)
    .slice(0, 7)
    .replace('-', '/');
}
