import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyPage, startBare } from './bare.ts';
import { comparePair } from './interleave.ts';
import { startTarget, type Target } from './processes.ts';

const main = join(import.meta.dirname, '../dist/main.js');
const port = 18_085;

/** Paths to request, each with the `Accept` header of the request. Browsers request `text/html`. */
const cases = [
  { path: '/', accept: 'text/html' },
  { path: '/docs/posts', accept: 'text/html' },
  { path: '/openapi.json', accept: '*/*' },
  { path: '/api', accept: '*/*' },
  { path: '/llms.txt', accept: '*/*' },
] as const;

/**
 * Compares the request rate of Perch for pages and documents with that of a minimal Fastify server
 * that sends the same bytes. Returns Markdown lines.
 */
export async function benchDocuments(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-documents-'));
  const rows: string[] = [];
  try {
    for (const { path, accept } of cases) rows.push(await compare(path, { accept, folder }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [
    '## Pages and documents',
    '',
    'Each is compared with a minimal Fastify route that sends the same bytes and headers. The servers take turns',
    'of one second, and the ratio is the median over the turns. Goal: at least 0.85 of the requests per second.',
    '',
    '| page | bytes | requests/s | bare Fastify | ratio |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

interface CaseOptions {
  readonly accept: string;
  readonly folder: string;
}

async function compare(path: string, { accept, folder }: CaseOptions): Promise<string> {
  const startPerch = (): Promise<Target> =>
    startTarget({
      name: 'perch',
      args: [main, 'serve'],
      url: `http://127.0.0.1:${port}${path}`,
      headers: { accept },
      env: { PORT: String(port), PERCH_DATA_DIR: folder },
    });
  const first = await startPerch();
  const page = await copyPage(first);
  await first.stop();
  const { measured, ratio } = await comparePair(
    [() => startBare('bare-fastify', page), startPerch],
    { rounds: 2 },
  );
  const [bare, own] = measured.map(({ requestsPerSecond }) =>
    Math.round(requestsPerSecond).toLocaleString('en-US'),
  );
  return `| \`${path}\` | ${Buffer.byteLength(page.body)} | ${own} | ${bare} | ${ratio.toFixed(2)} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await benchDocuments()).join('\n'));
}
