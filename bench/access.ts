import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePair } from './interleave.ts';
import { fromSources, startTarget } from './processes.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'bench/targets/perch.mjs');
const ports = [18_083, 18_084] as const;

/** Path of a typical profile request: twenty posts as Markdown. */
const path = '/api/v1/profiles/ada.example';

/**
 * Compares the request rates of two servers: one with API keys and rate limits, one without.
 * Returns the lines of a Markdown section.
 */
export async function benchAccess(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-access-'));
  try {
    return await compare(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(folder: string): Promise<string[]> {
  // Cache entries do not expire, so that all requests are hits.
  // Both servers use the keys of one folder. Sessions are off, because only one server could use them.
  const env = {
    PERCH_DATA_DIR: folder,
    PERCH_CACHE_TTL_SECONDS: '360000',
    PERCH_SESSIONS: 'off',
  };
  const authorization = `Bearer ${createKey(env)}`;
  const rows: string[] = [];
  for (const [name, headers] of [
    ['anonymous', {}],
    ['keyed', { authorization }],
  ] as const) {
    const start = (mode: 'off' | 'on', port: number) => () =>
      startTarget({
        name: mode,
        headers,
        url: `http://127.0.0.1:${port}${path}`,
        args: [...fromSources, target, mode],
        env: { ...env, PORT: String(port) },
      });
    const { measured, ratio } = await comparePair([start('off', ports[0]), start('on', ports[1])]);
    const [off, on] = measured.map((of) => ({
      rate: Math.round(of.requestsPerSecond).toLocaleString('en-US'),
      cpu: of.cpuMicroseconds.toFixed(1),
    }));
    rows.push(
      `| ${name} | ${off?.rate} | ${on?.rate} | ${ratio.toFixed(2)} | ${off?.cpu} | ${on?.cpu} |`,
    );
  }
  return [
    '## Keys and allowances',
    '',
    'A cached profile, requested with and without a key, compared with the same request to a server without',
    'allowances and keys. The two servers take turns of one second and are restarted for each round. The',
    'ratio is the median over the turns.',
    '',
    '| caller | requests/s, off | requests/s, on | ratio | CPU µs/request, off | on |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

/** Creates an API key in the data folder that `env` sets, and returns the key. */
export function createKey(env: Readonly<Record<string, string>>): string {
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
