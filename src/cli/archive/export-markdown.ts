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
import type { MediaExport } from './export-media.ts';

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
  const years = createYears();
  await writeThreads(options, years);
  await writeReposts(options, years);
  const counted = years.list();
  if (!signal.aborted) {
    folder.write('index.md', media.localize(renderArchiveIndex(account, counted), ''));
    media.removeOthers();
  }
  return { years: counted, isWhole: !signal.aborted };
}

function createYears() {
  const years = new Map<string, YearCount>();
  return {
    add: (created: number, { threads = 0, posts = 0, reposts = 0 }: Partial<YearCount>) => {
      const year = toMonth(created).slice(0, 4);
      const before = years.get(year) ?? { threads: 0, posts: 0, reposts: 0 };
      years.set(year, {
        year,
        threads: before.threads + threads,
        posts: before.posts + posts,
        reposts: before.reposts + reposts,
      });
    },
    list: () => [...years.values()].toSorted((a, b) => (a.year < b.year ? -1 : 1)),
  };
}

type Years = ReturnType<typeof createYears>;

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
  const { store, owner, folder, signal } = options;
  const months = createMonths((month, names: readonly string[]) =>
    folder.keepOnly(month, new Set(names)),
  );
  const read = (after: number) => store.readHistory(owner, after, pageRows);
  for await (const row of readRows(read, signal)) {
    if (!row.continues) months.add(toMonth(row.created), writeThread(row, options));
    years.add(row.created, { threads: row.continues ? 0 : 1, posts: 1 });
  }
  if (!signal.aborted) months.end(listMonths(folder));
}

function writeThread(first: HistoryPost, options: MarkdownExport): string {
  const { store, owner, folder, media } = options;
  const found = [first];
  // A post continues only one other post, so no post is found twice.
  for (const post of found) found.push(...store.readContinuations(owner, post));
  const thread = found.toSorted((a, b) => a.number - b.number);
  const name = toNoteName(toIsoSeconds(first.created * 1000).slice(0, 10), first.post.id);
  const stored = Math.min(...thread.map((post) => post.stored));
  const note = renderThreadNote({ posts: thread.map(({ post }) => post), stored });
  folder.write(`${toMonth(first.created)}/${name}`, media.localize(note, '../../'));
  return name;
}

async function writeReposts(options: MarkdownExport, years: Years): Promise<void> {
  const { store, owner, account, folder, signal } = options;
  const months = createMonths((month, lines: readonly string[]) => {
    const path = `${month}/reposts.md`;
    if (lines.length === 0) folder.remove(path);
    else
      folder.write(path, [renderRepostsHead(account, month.replace('/', '-')), ...lines].join(''));
  });
  const read = (after: number) => store.readReposts(owner, after, pageRows);
  for await (const row of readRows(read, signal)) {
    months.add(toMonth(row.created), renderRepost({ ...row, platform: owner.platform }));
    years.add(row.created, { reposts: 1 });
  }
  if (!signal.aborted) months.end(listMonths(folder));
}

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
    /** Also calls `endMonth` for months in `all` without items, to delete their outdated files. */
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

function toMonth(seconds: number): string {
  return toIsoSeconds(seconds * 1000)
    .slice(0, 7)
    .replace('-', '/');
}
