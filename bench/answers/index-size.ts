import { execFileSync, fork } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrations, openPassageIndex } from '../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../src/answers/index/refresh.ts';
import type { Block } from '../../src/answers/readers/section.ts';
import { openSqlite } from '../../src/lib/files/sqlite.ts';
import { writeMadeFiles } from './made-files.ts';

/**
 * Arguments of this script, which indexes 500 files of Perch, and generated files, in separate processes. The script
 * prints the time relative to plain FTS5, the memory, and the time of an index update. Usage: `npx tsx
 * bench/answers/index-size.ts [1000 5000 …]` (numbers of generated files; `0` for none).
 */
const { values, positionals } = parseArgs({
  options: { part: { type: 'string' }, work: { type: 'string', default: '' } },
  allowPositionals: true,
});
const sizes =
  positionals.length === 0 ? [1000, 5000, 10_000] : positionals.map(Number).filter(Boolean);

/** Measurements of one process that builds or updates an index. */
interface Measured {
  /** CPU time in milliseconds. */
  readonly ms: number;
  /** Time that passed, in seconds. */
  readonly seconds: number;
  readonly files: number;
  readonly read: number;
  readonly passages: number;
  /** Resident memory in MiB before indexing starts. */
  readonly startMiB: number;
  /** Peak resident memory of the process in MiB. */
  readonly peakMiB: number;
}

const parts = { build, again: build, changed: changeOne, bare } as const;
type Part = keyof typeof parts;

const heads = [
  'files',
  'MiB',
  'passages',
  'build, s',
  'CPU time, ms a file',
  'times bare FTS5',
  'memory before, MiB',
  'peak growth, MiB',
  'next start, ms',
  'one changed file, ms',
];

/** Number of files of Perch to index, and the goals for them. */
const own = { files: 500, maxSeconds: 20, maxMiB: 150 } as const;

async function runAll(): Promise<void> {
  console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`);
  await runOne(`${own.files} of Perch`, (folder) => copyOwnFiles(folder, own.files));
  for (const size of sizes) await runOne(`${size} generated`, (to) => writeMadeFiles(to, size));
}

/** Indexes the files that `write` writes into a folder. `write` returns their total size in bytes. */
async function runOne(name: string, write: (folder: string) => number): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'perch-index-'));
  try {
    const mib = write(join(work, 'docs')) / 1_048_576;
    const built = await inProcess('build', work);
    const plain = await inProcess('bare', work);
    const again = await inProcess('again', work);
    const changed = await inProcess('changed', work);
    if (again.read !== 0 || changed.read !== 1) throw new Error('Too much was read.');
    const growth = built.peakMiB - built.startMiB;
    const isMissed = built.files === own.files && growth > own.maxMiB;
    const isSlow = built.files === own.files && built.seconds > own.maxSeconds;
    const cells = [
      name,
      mib.toFixed(1),
      built.passages,
      `${built.seconds.toFixed(1)}${isSlow ? ' †' : ''}`,
      (built.ms / built.files).toFixed(2),
      (built.ms / plain.ms).toFixed(1),
      built.startMiB.toFixed(0),
      `${growth.toFixed(0)}${isMissed ? ' †' : ''}`,
      again.ms.toFixed(0),
      changed.ms.toFixed(0),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Copies source code and pages of Perch. Returns their total size in bytes. */
function copyOwnFiles(folder: string, count: number): number {
  const root = join(import.meta.dirname, '../..');
  const list = execFileSync('git', ['ls-files', 'docs/*.md', 'src/*.ts'], { cwd: root });
  const paths = list.toString().trim().split('\n').slice(0, count);
  for (const path of paths) cpSync(join(root, path), join(folder, path));
  return paths.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
}

function inProcess(part: Part, work: string): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, ['--part', part, '--work', work]);
    child.once('message', (measured) => resolve(measured as Measured));
    child.once('exit', (code) => reject(new Error(`${part} ended with ${code}`)));
  });
}

function residentMiB(): number {
  return process.memoryUsage.rss() / 1_048_576;
}

async function build(work: string): Promise<Measured> {
  const index = openPassageIndex(join(work, 'answers.db'));
  const startMiB = residentMiB();
  const start = process.cpuUsage();
  const startMs = performance.now();
  const corpora = [{ name: 'docs', root: join(work, 'docs') }];
  const { files, read } = await refreshIndex({ index, corpora });
  const ms = cpuMs(start);
  const seconds = (performance.now() - startMs) / 1000;
  const { passages } = index.totals();
  index.close();
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  return { ms, seconds, files, read, passages, startMiB, peakMiB };
}

async function changeOne(work: string): Promise<Measured> {
  const paths = readdirSync(join(work, 'docs'), { recursive: true, encoding: 'utf8' });
  const path = paths.find((one) => one.endsWith('.md')) ?? '';
  appendFileSync(join(work, 'docs', path), '\n<!-- changed -->\n');
  return build(work);
}

/** Measures the baseline: reads the files that `build` indexed, and inserts their passages into a plain FTS5 table. */
async function bare(work: string): Promise<Measured> {
  const source = openSqlite({ path: join(work, 'answers.db'), migrations });
  const paths = source
    .prepare<[], { id: number; path: string }>('SELECT id, path FROM files')
    .all();
  const passagesOf = source.prepare<[number], { heading: string; blocks: string }>(
    'SELECT heading, blocks FROM passages WHERE file = ?',
  );
  const target = openSqlite({
    path: join(work, 'bare.db'),
    migrations: [
      (database) => database.exec('CREATE VIRTUAL TABLE passages USING fts5 (heading, body)'),
    ],
  });
  const add = target.prepare<[string, string]>('INSERT INTO passages VALUES (?, ?)');
  const startMiB = residentMiB();
  let passages = 0;
  let ms = 0;
  const startMs = performance.now();
  for (const { id, path } of paths) {
    const kept = passagesOf.all(id).map(({ heading, blocks }) => ({
      heading,
      body: (JSON.parse(blocks) as Block[]).map(({ text }) => text).join('\n'),
    }));
    const start = process.cpuUsage();
    readFileSync(join(work, 'docs', path), 'utf8');
    target.transaction(() => {
      for (const { heading, body } of kept) add.run(heading, body);
    })();
    ms += cpuMs(start);
    passages += kept.length;
  }
  source.close();
  target.close();
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  const seconds = (performance.now() - startMs) / 1000;
  return { ms, seconds, files: paths.length, read: paths.length, passages, startMiB, peakMiB };
}

/** Returns the CPU time in milliseconds since `since`. CPU time does not depend on other processes. */
function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

if (values.part === undefined) await runAll();
else process.send?.(await parts[values.part as Part](values.work));
