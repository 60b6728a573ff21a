import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchAccess, createKey } from './access.ts';
import { benchAllowances } from './allowances.ts';
import { benchArchive } from './archive.ts';
import { benchArchiveImport } from './archive-import.ts';
import { copyPage, startBare } from './bare.ts';
import { benchCommands } from './commands.ts';
import { benchCompression } from './compression.ts';
import { benchDocuments } from './documents.ts';
import { benchHistory } from './history.ts';
import { interleave, load, median, rounds } from './interleave.ts';
import { generator, type Measured } from './load.ts';
import { isPinned, residentMiB, startTarget, type Target } from './processes.ts';
import { benchSessions } from './sessions.ts';
import { benchTracing } from './tracing.ts';

const starts = 7;

const cases = [
  { name: 'Markdown', path: '/ada.example/status/1900000000000000001' },
  {
    name: 'JSON',
    path: '/api/v1/posts?handle=ada.example&id=1900000000000000001&replies=off&thread=2&format=json',
  },
  { name: 'Markdown with a key', path: '/api/v1/profiles/ada.example' },
] as const;

const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'perch-bench-'));
const perchPort = 18_080;
const perchOptions = {
  args: [join(root, 'dist/main.js'), 'serve'],
  env: { PORT: String(perchPort), PERCH_DATA_DIR: join(work, 'data') },
};

try {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const lines = [
    ...header(),
    ...(await benchReads()),
    ...(await benchCompression()),
    ...(await benchTracing()),
    ...(await benchAccess()),
    ...(await benchDocuments()),
    ...(await benchAllowances()),
    ...(await benchArchive()),
    ...benchArchiveImport(),
    ...(await benchHistory()),
    ...(await benchSessions()),
    ...(await benchStart()),
    ...(await benchCommands()),
  ];
  writeFileSync(join(root, 'bench/results.md'), `${lines.join('\n')}\n`);
  console.log(lines.join('\n'));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function header(): string[] {
  return [
    '# Bench',
    '',
    'Written by `npm run bench`: one interleaved run on loopback, with medians over the rounds. The bare',
    'servers send the same bytes and headers as Perch. Compare the ratios; the rates depend on the machine.',
    '',
    `- Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load by ${generator}`,
    `- ${rounds} rounds of ${load.seconds} s for each server, ${load.connections} keep-alive connections`,
    `- servers and load generator ${isPinned ? 'on separate cores' : 'on any core'}`,
    '- Perch started as by `npm start`: default settings, log to a pipe that is not read',
    '',
  ];
}

async function benchReads(): Promise<string[]> {
  const rows: string[] = [];
  const authorization = `Bearer ${createKey(perchOptions.env)}`;
  for (const { name, path } of cases) {
    const headers = name.endsWith('key') ? { authorization } : {};
    rows.push(...(await benchRead(name, { path, headers })));
  }
  return [
    '## Cached reads',
    '',
    'Goals beside bare Fastify: at least 0.80 of the requests per second (0.75 with a key), and at most 1.35',
    'times the CPU time.',
    '',
    '| read | server | requests/s | Perch’s ratio | CPU µs/request | Perch’s ratio |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

async function benchRead(
  name: string,
  { path, headers }: { readonly path: string; readonly headers: Record<string, string> },
): Promise<string[]> {
  const url = `http://127.0.0.1:${perchPort}${path}`;
  const perch = await startTarget({ name: 'perch', url, headers, ...perchOptions });
  const page = await copyPage(perch);
  const targets = [
    perch,
    await startBare('bare-fastify', page),
    await startBare('bare-http', page),
  ];
  const measured = await interleave(targets);
  await Promise.all(targets.map((target) => target.stop()));
  return measured.map((of, index) => {
    const ratio = (key: keyof Measured) => (index === 0 ? '' : of.ratios[key].toFixed(2));
    const rate = Math.round(of.requestsPerSecond).toLocaleString('en-US');
    return `| ${name}, ${Buffer.byteLength(page.body)} B | ${targets[index]?.name} | ${rate} | ${ratio('requestsPerSecond')} | ${of.cpuMicroseconds.toFixed(1)} | ${ratio('cpuMicroseconds')} |`;
  });
}

async function benchStart(): Promise<string[]> {
  const headers = { 'content-type': 'text/plain' };
  const page = { target: '/', headers, body: 'ok', database: join(work, 'bare.db') };
  const started = { perch: [] as number[], bare: [] as number[] };
  const resident = { perch: [] as number[], bare: [] as number[] };
  for (let round = 0; round < starts; round += 1) {
    const url = `http://127.0.0.1:${perchPort}${cases[0].path}`;
    await note('perch', () => startTarget({ name: 'perch', url, ...perchOptions }));
    await note('bare', () => startBare('bare-fastify', page));
  }
  async function note(of: 'perch' | 'bare', start: () => Promise<Target>): Promise<void> {
    const target = await start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    started[of].push(target.startMs);
    resident[of].push(residentMiB(target.pid));
    await target.stop();
  }
  const row = (name: string, of: typeof started, unit: string) =>
    `| ${name} | ${median(of.perch).toFixed(0)} ${unit} | ${median(of.bare).toFixed(0)} ${unit} | ${(median(of.perch) / median(of.bare)).toFixed(2)} |`;
  return [
    '## Start and idle memory',
    '',
    `${starts} starts of each server, in turn. The bare server opens better-sqlite3 too. Goals: at most 2.0 times the`,
    'start time and 2.5 times the memory.',
    '',
    '| | perch | bare Fastify | ratio |',
    '| --- | --- | --- | --- |',
    row('start to first response', started, 'ms'),
    row('resident memory when idle', resident, 'MiB'),
  ];
}
