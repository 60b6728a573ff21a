import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureStarts } from './interleave.ts';
import { startTarget } from './processes.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'bench/targets/perch.mjs');
const port = 18_083;

/** A profile as most ask for it: twenty posts, as Markdown. */
const url = `http://127.0.0.1:${port}/api/v1/profiles/ada.example`;

/** Compares a cached browse read with and without a key with the same where nobody is counted. */
export async function benchAccess(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-access-'));
  try {
    return await compare(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(folder: string): Promise<string[]> {
  // Nothing goes out of the cache, so that all rounds are hits.
  const env = { PERCH_DATA_DIR: folder, PERCH_CACHE_TTL_SECONDS: '360000' };
  const authorization = `Bearer ${createKey(env)}`;
  // In pairs of the same request: first with allowances and keys switched off, then with them.
  const callers = [
    { name: 'off', mode: 'off', headers: {} },
    { name: 'anonymous', mode: 'on', headers: {} },
    { name: 'off, key sent', mode: 'off', headers: { authorization } },
    { name: 'keyed', mode: 'on', headers: { authorization } },
  ] as const;
  const measured = await measureStarts(callers, ({ name, mode, headers }) =>
    startTarget({ name, headers, url, args: [target, mode], env: { ...env, PORT: String(port) } }),
  );
  const rows = measured.map((of, index) => {
    const rate = Math.round(of.requestsPerSecond).toLocaleString('en-US');
    const off = index % 2 === 0 ? undefined : measured[index - 1];
    const ratio =
      off === undefined ? '' : (of.requestsPerSecond / off.requestsPerSecond).toFixed(2);
    return `| ${callers[index]?.name} | ${rate} | ${ratio} | ${of.cpuMicroseconds.toFixed(1)} |`;
  });
  return [
    '## Keys and allowances',
    '',
    'A cached profile, asked for without a key and with one, each compared with the same request where',
    'allowances and keys are switched off. Each round starts every server anew, because one process can be',
    'a tenth faster than the next. Goal: at least 0.95 of the requests a second.',
    '',
    '| caller | requests/s | ratio | CPU µs/request |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

function createKey(env: Readonly<Record<string, string>>): string {
  const args = [join(root, 'dist/main.js'), 'keys', 'create', '--label', 'bench'];
  return execFileSync(process.execPath, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await benchAccess()).join('\n'));
}
