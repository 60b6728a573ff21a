import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { findPatterns } from './patterns/find-patterns.ts';
import { openJudge } from './patterns/judge-pattern.ts';
import { dynamicPatterns, exceptions } from './patterns/listed-patterns.ts';
import { recordPatterns } from './patterns/record-patterns.ts';
import { reviewPatterns } from './patterns/review-patterns.ts';

process.exitCode = await check();

/** Analyses all regular expressions in `src`, prints the slow ones, and returns the exit code. */
async function check(): Promise<number> {
  const root = join(import.meta.dirname, '../src');
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => findPatterns(path.split(sep).join('/'), readFileSync(join(root, path), 'utf8')));
  const recorded = await recordPatterns(async () => {
    for (const { file, create } of dynamicPatterns) {
      await import(join(root, file));
      await create?.();
    }
  });
  const literals = found.flatMap((file) => file.literals);
  const places = found.flatMap((file) => file.dynamic);
  const { judge, close } = openJudge();
  const faults = reviewPatterns({ literals, places, recorded, exceptions, dynamicPatterns, judge });
  close();
  for (const fault of faults) console.log(`patterns: ${fault}`);
  console.log(
    `patterns: ${literals.length + recorded.length} analysed, ${exceptions.length} exceptions, ${faults.length} faults.`,
  );
  return faults.length === 0 ? 0 : 1;
}
