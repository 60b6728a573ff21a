import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, rounds } from './interleave.ts';
import { startTarget } from './processes.ts';

// Compares cached reads with and without `Accept-Encoding`, on one server.
//
//   npm run build && npx tsx bench/compression.ts      under a minute; the exit code is 1 if the goal is missed

const root = join(import.meta.dirname, '..');
const port = 18_089;
const path = '/ada.example/status/1900000000000000001';
const goal = 0.95;

const accepted = ['gzip', 'gzip, deflate, br, zstd'] as const;

/** Measures cached reads that are sent as they are, as gzip and as Brotli. Returns the lines of a Markdown section. */
export async function benchCompression(): Promise<string[]> {
  const { rows } = await compareCodings();
  return [
    '## Compressed replies',
    '',
    `A cached post, requested with and without \`Accept-Encoding\`: ${rounds} rounds in which both take turns on one`,
    `server. Goal: at least ${goal} of the requests per second.`,
    '',
    '| `Accept-Encoding` | requests/s | ratio | CPU µs/request |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

async function compareCodings() {
  const work = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  const plain = await startTarget({
    name: 'perch',
    url: `http://127.0.0.1:${port}${path}`,
    args: [join(root, 'dist/main.js'), 'serve'],
    env: { PORT: String(port), PERCH_DATA_DIR: join(work, 'data') },
  });
  const coded = accepted.map((one) => ({ ...plain, headers: { 'accept-encoding': one } }));
  try {
    const measured = await interleave([plain, ...coded]);
    // `ratios` compares the first with each.
    const ratios = measured.map((of) => 1 / of.ratios.requestsPerSecond);
    const rows = measured.map((of, index) => {
      const name = accepted[index - 1];
      const rate = Math.round(of.requestsPerSecond).toLocaleString('en-US');
      const ratio = name === undefined ? '' : ratios[index]?.toFixed(2);
      return `| ${name === undefined ? 'none' : `\`${name}\``} | ${rate} | ${ratio} | ${of.cpuMicroseconds.toFixed(1)} |`;
    });
    return { rows, isMet: ratios.every((ratio) => ratio >= goal) };
  } finally {
    await plain.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rows, isMet } = await compareCodings();
  console.log(rows.join('\n'));
  process.exitCode = isMet ? 0 : 1;
}
