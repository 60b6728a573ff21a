import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './interleave.ts';

/** Number of runs of each command. The commands run alternately. */
const runs = 9;

const main = join(import.meta.dirname, '../dist/main.js');

/** Commands to measure, each with the maximum ratio of its duration to that of an empty Node.js script. */
const commands = [
  { name: '`node -e 0`', args: ['-e', '0'] },
  { name: '`perch --version`', args: [main, '--version'], goal: 2 },
  {
    name: '`perch read` of a post',
    args: [main, 'read', 'ada.example/status/1900528230646183861'],
    goal: 6,
  },
];

/** Measures `perch` commands relative to an empty Node.js script. Returns the lines of a Markdown section. */
export function benchCommands(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  const times = commands.map((): number[] => []);
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const [index, { args }] of commands.entries()) times[index]?.push(time(args, folder));
    }
  } finally {
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

function time(args: readonly string[], folder: string): number {
  const begin = performance.now();
  const { status } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, PERCH_DATA_DIR: join(folder, 'data') },
  });
  if (status !== 0) throw new Error(`\`node ${args.join(' ')}\` exited with ${status}.`);
  return performance.now() - begin;
}

if (process.argv[1] === import.meta.filename) console.log(benchCommands().join('\n'));
