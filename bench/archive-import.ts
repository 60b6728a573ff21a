import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  exportFormats,
  fingerprintExport,
  openExport,
  runImport,
} from '../src/archive/imports/run-import.ts';
import { toPostWords } from '../src/archive/search/words.ts';
import { migrations } from '../src/archive/store/schema.ts';
import { openArchiveStore } from '../src/archive/store/store.ts';
import { keepHeapSmall } from '../src/cli/archive/import.ts';
import { systemClock } from '../src/lib/clock.ts';
import { openSqlite, type SqliteDatabase } from '../src/lib/files/sqlite.ts';
import type { Post } from '../src/model/post.ts';
import { makeXExport, writeExport } from '../test/support/exports/x-export.ts';

const posts = Number(process.env.BENCH_IMPORT_POSTS ?? 100_000);
const rounds = Number(process.env.BENCH_IMPORT_ROUNDS ?? 3);
const batch = 500;
const self = fileURLToPath(import.meta.url);
const mebibyte = 2 ** 20;

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  /** User and system CPU time of all threads, in seconds. */
  readonly cpuSeconds: number;
  /** Peak growth of the resident memory since the start of the measurement, in MiB. */
  readonly grownMebibytes: number;
}

/**
 * Compares the import of an X export with a loop that only inserts the same rows and full-text entries. The import and
 * the loop run in turn in separate processes. @returns The lines of a Markdown section.
 */
export function benchArchiveImport(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-import-'));
  try {
    const options = { posts, followers: 2000, following: 500, parts: 4, repostEvery: 10 };
    writeExport(folder, makeXExport({ ...options, replyEvery: 7 }));
    const measured = Array.from({ length: rounds }, (_, round) => {
      const database = join(folder, `${round}.db`);
      return {
        imported: runChild('import', folder, database),
        bare: runChild('bare', database, join(folder, `bare-${round}.db`)),
      };
    });
    return toLines(measured);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function toLines(measured: readonly { imported: Measured; bare: Measured }[]): string[] {
  const rateOf = ({ rows, seconds }: Measured) => rows / seconds;
  const rows = measured.map(({ imported, bare }) => {
    const ratio = rateOf(imported) / rateOf(bare);
    const cells = [
      Math.round(rateOf(imported)).toLocaleString('en'),
      Math.round(rateOf(bare)).toLocaleString('en'),
      `${ratio.toFixed(2)}${ratio >= 0.5 ? '' : ' (missed)'}`,
      (bare.cpuSeconds / imported.cpuSeconds).toFixed(2),
      `${imported.grownMebibytes.toFixed(1)} MiB${imported.grownMebibytes < 64 ? '' : ' (missed)'}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '## Import into the archive',
    '',
    `An X export with ${posts.toLocaleString('en')} posts, imported into an empty archive, compared with a loop that`,
    `inserts the same rows and full-text entries in transactions of ${batch}. Goals: at least 0.50 of the rate of`,
    'the loop, and a memory growth below 64 MiB.',
    '',
    '| import, posts/s | loop, posts/s | ratio | CPU time ratio | memory growth |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

function runChild(...args: readonly string[]): Measured {
  const node = ['--import', import.meta.resolve('tsx'), self, ...args];
  // Written by `main` of this file.
  return JSON.parse(execFileSync(process.execPath, node, { encoding: 'utf8' })) as Measured;
}

async function measureImport(folder: string, path: string): Promise<Measured> {
  keepHeapSmall(); // as the command does
  const store = openArchiveStore(path, 'http://localhost:8080');
  const stopwatch = startStopwatch();
  const atStart = process.memoryUsage.rss();
  let highest = atStart;
  const opened = await openExport(folder, { formats: exportFormats, hints: {} });
  if (opened === null) throw new Error('The export was not recognized.');
  const { fingerprint, changed } = await fingerprintExport(opened.files, opened.format.name);
  const { counts } = await runImport({
    store,
    source: opened.source,
    newImport: { fingerprint, title: opened.source.title, name: 'bench', exported: changed },
    clock: systemClock,
    signal: new AbortController().signal,
    onProgress: () => {
      highest = Math.max(highest, process.memoryUsage.rss());
    },
    onSkipped: () => undefined,
  });
  const spent = stopwatch();
  await opened.source.close();
  store.close();
  return { rows: counts.posts, ...spent, grownMebibytes: (highest - atStart) / mebibyte };
}

/** Starts a stopwatch. The returned function returns the elapsed time and CPU time in seconds. */
function startStopwatch(): () => Pick<Measured, 'seconds' | 'cpuSeconds'> {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { seconds: (performance.now() - begun) / 1000, cpuSeconds: (user + system) / 1e6 };
  };
}

type Row = Readonly<Record<string, unknown>>;

/** Measures the time to write the rows of the archive `from` to a new archive at `path`, in chronological order. */
function measureBare(from: string, path: string): Measured {
  const source = openSqlite({ path: from, migrations });
  const all = (table: string) => source.prepare<unknown[], Row>(`SELECT * FROM ${table}`).all();
  const posts = all('posts').map((row) => ({ table: 'posts' as const, row, words: toWords(row) }));
  const reposts = all('reposts').map((row) => ({ table: 'reposts' as const, row }));
  const timed = [...posts, ...reposts].sort((a, b) => Number(a.row.number) - Number(b.row.number));
  const rows = [...timed, ...all('follows').map((row) => ({ table: 'follows' as const, row }))];
  const target = openSqlite({ path, migrations });
  const insert = prepareInserts(target);
  const write = target.transaction((some: typeof rows) => {
    for (const one of some) {
      insert[one.table].run(one.row);
      if (one.table === 'posts') insert.words.run(one.words);
    }
  });
  const stopwatch = startStopwatch();
  for (let at = 0; at < rows.length; at += batch) write.immediate(rows.slice(at, at + batch));
  const spent = stopwatch();
  source.close();
  target.close();
  return { rows: posts.length, ...spent, grownMebibytes: 0 };
}

function prepareInserts(target: SqliteDatabase) {
  return {
    posts: target.prepare(
      `INSERT INTO posts VALUES (@number, @platform, @handle, @id, @parent_id, @gone, @answers_other,
         @score, @stored, @json, @has_media)`,
    ),
    words: target.prepare(
      `INSERT INTO post_words (rowid, text, author, tags, marks)
       VALUES (@number, @text, @author, @tags, @marks)`,
    ),
    reposts: target.prepare(
      'INSERT INTO reposts VALUES (@number, @platform, @handle, @post_handle, @post_id, @stored)',
    ),
    follows: target.prepare(
      'INSERT INTO follows VALUES (@platform, @follower, @followed, @stored)',
    ),
  };
}

function toWords({ number, json }: Row) {
  const post = JSON.parse(String(json)) as Post; // written by `putPost` from a Post
  if (post.type !== 'status') throw new Error('Tombstones are not generated.');
  return { number, ...toPostWords(post) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [kind, from = '', to = ''] = process.argv.slice(2);
  if (kind === undefined) console.log(benchArchiveImport().join('\n'));
  else {
    const measured = kind === 'import' ? await measureImport(from, to) : measureBare(from, to);
    console.log(JSON.stringify(measured));
  }
}
