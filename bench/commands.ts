import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './interleave.ts';

/** Number of runs of each command. The commands run alternately. */
const runs = 9;

const main = join(import.meta.dirname, '../dist/main.js');

/** Script of a server that answers health checks as Perch does. It prints its port. */
const readyServer = `const server = require('node:http').createServer((_, response) => response.end('{"status":"ready"}'));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Commands to measure, each with the maximum ratio of its duration to that of an empty Node.js script. */
const commands = [
  { name: '`node -e 0`', args: ['-e', '0'] },
  { name: '`perch --version`', args: [main, '--version'], goal: 2 },
  {
    name: '`perch read` of a post',
    args: [main, 'read', 'ada.example/status/1900528230646183861'],
    goal: 6,
  },
  { name: '`perch health`', args: [main, 'health'], goal: 2.5 },
];

/**
 * Compares the durations of `perch` commands with the duration of an empty Node.js script. Returns
 * the lines of a Markdown section.
 */
export async function benchCommands(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  const times = commands.map((): number[] => []);
  const server = spawn(process.execPath, ['-e', readyServer]);
  try {
    const [port] = await once(server.stdout, 'data');
    const env = { PERCH_DATA_DIR: join(folder, 'data'), PORT: String(port).trim() };
    for (let run = 0; run < runs; run += 1) {
      for (const [index, { args }] of commands.entries()) {
        times[index]?.push(time(args, folder, env));
      }
    }
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  const [bare = 0] = times.map(median);
  return [
    '## Commands',
    '',
    `${runs} runs of each command, in turn, with an existing data folder.`,
    '',
    '| command | time | times bare Node | goal |',
    '| --- | --- | --- | --- |',
    ...commands.map(({ name, goal }, index) => {
      const ms = median(times[index] ?? []);
      return `| ${name} | ${ms.toFixed(0)} ms | ${(ms / bare).toFixed(2)} | ${goal ?? ''} |`;
    }),
    '',
  ];
}

function time(args: readonly string[], folder: string, env: Record<string, string>): number {
  const begin = performance.now();
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`\`node ${args.join(' ')}\` exited with ${status}.`);
  return performance.now() - begin;
}

if (process.argv[1] === import.meta.filename) console.log((await benchCommands()).join('\n'));
