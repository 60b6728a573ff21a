import { fork } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPassageIndex } from '../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../src/answers/index/refresh.ts';
import { migrations } from '../../src/answers/index/schema.ts';
import type { Block } from '../../src/answers/readers/section.ts';
import { openSqlite } from '../../src/core/files/sqlite.ts';
import { makeFile, writeMadeFiles } from './made-files.ts';

/**
 * Arguments of this script, which indexes generated files in separate processes. The script prints
 * the time relative to plain FTS5, the memory, and the time of an index update. Usage: `npx tsx
 * bench/answers/index-size.ts [1000 5000 …]` (numbers of files).
 */
const { values, positionals } = parseArgs({
  options: { part: { type: 'string' }, work: { type: 'string', default: '' } },
  allowPositionals: true,
});
const sizes = positionals.length === 0 ? [1000, 5000, 10_000] : positionals.map(Number);

/** Measurements of one process that builds or updates an index. */
interface Measured {
  readonly ms: number;
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

async function runAll(): Promise<void> {
  const heads = [
    'files',
    'MiB',
    'passages',
    'build, ms a file',
    'times bare FTS5',
    'memory before, MiB',
    'peak growth, MiB',
    'next start, ms',
    'one changed file, ms',
  ];
  console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`);
  for (const size of sizes) {
    const work = mkdtempSync(join(tmpdir(), 'perch-index-'));
    try {
      const mib = writeMadeFiles(join(work, 'docs'), size) / 1_048_576;
      const built = await inProcess('build', work);
      const plain = await inProcess('bare', work);
      const again = await inProcess('again', work);
      const changed = await inProcess('changed', work);
      if (again.read !== 0 || changed.read !== 1) throw new Error('Too much was read.');
      const cells = [
        size,
        mib.toFixed(1),
        built.passages,
        (built.ms / size).toFixed(2),
        (built.ms / plain.ms).toFixed(1),
        built.startMiB.toFixed(0),
        (built.peakMiB - built.startMiB).toFixed(0),
        again.ms.toFixed(0),
        changed.ms.toFixed(0),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
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
  const corpora = [{ name: 'docs', root: join(work, 'docs') }];
  const { files, read } = await refreshIndex({ index, corpora });
  const ms = cpuMs(start);
  const { passages } = index.totals();
  index.close();
  return { ms, files, read, passages, startMiB, peakMiB: process.resourceUsage().maxRSS / 1024 };
}

async function changeOne(work: string): Promise<Measured> {
  appendFileSync(join(work, 'docs', makeFile(7).path), '\n<!-- changed -->\n');
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
  return { ms, files: paths.length, read: paths.length, passages, startMiB, peakMiB };
}

/** Returns the CPU time in milliseconds since `since`. CPU time does not depend on other processes. */
function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

if (values.part === undefined) await runAll();
else process.send?.(await parts[values.part as Part](values.work));
