/**
 * Script that answers questions while files are indexed, first in one thread, then in worker threads. It prints the
 * delays of the event loop and of the answers. Usage: `npx tsx bench/answers/stalls.ts [FILES]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Answers, openAnswers } from '../../src/answers/open-answers.ts';
import { openThreadedAnswers } from '../../src/answers/worker/open-threaded-answers.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { makeFile, writeMadeFiles } from './made-files.ts';
import { quantile } from './scoring.ts';

/** Number of generated files. */
const count = Number(process.argv[2] ?? 1000);
const work = mkdtempSync(join(tmpdir(), 'perch-stalls-'));
const text = makeFile(0).text.split(/\s+/).slice(2, 7).join(' ');

/** Delays of the event loop and of answers in milliseconds, during and after the build of the index. */
interface Stalls {
  readonly loopP99: number;
  readonly loopMost: number;
  readonly askedP50: number;
  readonly askedP95: number;
  readonly quietP50: number;
}

try {
  writeMadeFiles(join(work, 'docs'), count);
  console.log(
    '| answers | event loop held up, p99 | at most | question while indexing, p50 | p95 | question after, p50 |',
  );
  console.log('| --- | --- | --- | --- | --- | --- |');
  const corpora = [{ name: 'docs', root: join(work, 'docs') }];
  const options = { corpora, clock: systemClock };
  const one = openAnswers({ ...options, path: join(work, 'one.db') });
  printRow('in one thread', await measure(one));
  const several = openThreadedAnswers({ ...options, path: join(work, 'several.db') });
  printRow('in threads of their own', await measure(several));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function printRow(name: string, stalls: Stalls): void {
  const cells = Object.values(stalls).map((ms: number) => `${ms.toFixed(1)} ms`);
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}

async function measure(answers: Answers): Promise<Stalls> {
  await ask(answers);
  let isBuilt = false;
  const asked: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const built = answers.refresh().then(() => {
    isBuilt = true;
  });
  while (!isBuilt) {
    asked.push(await ask(answers));
    await systemClock.sleep(20);
  }
  await built;
  loop.disable();
  const quiet: number[] = [];
  for (let time = 0; time < 50; time += 1) quiet.push(await ask(answers));
  await answers.close();
  return {
    loopP99: loop.percentile(99) / 1e6 - 5,
    loopMost: loop.max / 1e6 - 5,
    askedP50: quantile(asked, 0.5),
    askedP95: quantile(asked, 0.95),
    quietP50: quantile(quiet, 0.5),
  };
}

async function ask({ engine }: Answers): Promise<number> {
  const start = performance.now();
  const signal = new AbortController().signal;
  await engine.answer({ text, earlier: [] }, { signal, onText: () => {} });
  return performance.now() - start;
}
