import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkSync, type Diagnostics } from 'recheck';
import type { FoundPattern } from './find-patterns.ts';

/** Result of analysing the running time of a regular expression. */
export type Verdict =
  | { readonly status: 'linear' }
  /** Unknown running time, because the analyser gave up. */
  | { readonly status: 'unproved'; readonly reason: string }
  | { readonly status: 'superlinear'; readonly degree: string; readonly attack: Attack };

/** Input that makes a regular expression slow. Each part is `prefix` and a repeated `pump`. `suffix` ends the input. */
export interface Attack {
  readonly parts: readonly { readonly prefix: string; readonly pump: string }[];
  readonly suffix: string;
}

/** Milliseconds after which the analyser gives up on a regular expression. */
const timeout = 180_000;

/** Fixed seed of recheck's fuzzer, which searches for inputs that make a regular expression slow. */
const randomSeed = 1;

/**
 * Parameters of the test for slow regular expressions. `lengths`: lengths of the test inputs in UTF-16 code units.
 * `maxMs`: an expression counts as slow if it takes longer than this number of milliseconds for an input.
 */
const trial = { lengths: [2_000, 8_000, 32_000, 128_000], maxMs: 200 };

/** Analyses a regular expression with recheck (https://makenowjust-labs.github.io/recheck/). */
export function judgePattern(source: string, flags: string): Verdict {
  // Selects the native program of recheck if the platform has one, because it is faster than the JavaScript.
  process.env.RECHECK_SYNC_BACKEND = 'synckit';
  const found = checkSync(source, flags, { timeout, randomSeed });
  const verdict = toVerdict(found);
  // A search proves nothing: some of its attacks are slow only for the matcher of recheck.
  const isGuess = found.status === 'vulnerable' && found.checker === 'fuzz';
  if (verdict.status !== 'superlinear' || !isGuess || found.complexity.type === 'exponential') {
    return verdict;
  }
  return isSlow({ source, flags }, verdict.attack) ? verdict : { status: 'linear' };
}

function isSlow(pattern: Pick<FoundPattern, 'source' | 'flags'>, attack: Attack): boolean {
  return trial.lengths.some(
    (length) => measureAttack(pattern, writeAttack(attack, length)) > trial.maxMs,
  );
}

function toVerdict(found: Diagnostics): Verdict {
  switch (found.status) {
    case 'safe':
      return { status: 'linear' };
    case 'unknown':
      return { status: 'unproved', reason: found.error.kind };
    case 'vulnerable': {
      const { pumps, suffix } = found.attack;
      const parts = pumps.map(({ prefix, pump }) => ({ prefix, pump }));
      return { status: 'superlinear', degree: found.complexity.summary, attack: { parts, suffix } };
    }
  }
}

/** Returns an input of about `length` UTF-16 code units that makes the analysed regular expression slow. */
export function writeAttack({ parts, suffix }: Attack, length: number): string {
  const fixed = parts.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const pumped = parts.reduce((sum, { pump }) => sum + pump.length, 0);
  const count = Math.max(0, Math.floor((length - fixed) / pumped));
  return `${parts.map(({ prefix, pump }) => prefix + pump.repeat(count)).join('')}${suffix}`;
}

const timings = 5;

/** Returns the time in milliseconds that a pattern takes on an input: the minimum of several measurements. */
export function measureAttack(
  { source, flags }: Pick<FoundPattern, 'source' | 'flags'>,
  attack: string,
): number {
  const pattern = new RegExp(source, flags);
  const times = Array.from({ length: timings }, () => {
    const start = performance.now();
    attack.replace(pattern, '');
    return performance.now() - start;
  });
  return Math.min(...times);
}

/** Cache file with the results of earlier runs, because analysing every pattern takes a minute or two. */
const cachePath = join(import.meta.dirname, '../../node_modules/.cache/perch/patterns.json');

/** Creates an analyser of the speed of regular expressions. `close` saves the results in a file for later runs. */
export function openJudge(): {
  judge(source: string, flags: string): Verdict;
  close(): void;
} {
  const known = readCache();
  const used = new Map<string, Verdict>();
  return {
    judge: (source, flags) => {
      const name = `/${source}/${flags}`;
      const verdict = used.get(name) ?? known.get(name) ?? judgePattern(source, flags);
      used.set(name, verdict);
      return verdict;
    },
    close: () => {
      mkdirSync(dirname(cachePath), { recursive: true });
      writeFileSync(cachePath, JSON.stringify({ version: cacheVersion(), verdicts: [...used] }));
    },
  };
}

function readCache(): ReadonlyMap<string, Verdict> {
  try {
    const { version, verdicts } = JSON.parse(readFileSync(cachePath, 'utf8'));
    return new Map(version === cacheVersion() ? verdicts : []);
  } catch {
    return new Map(); // The file is missing or damaged, so everything is analysed.
  }
}

/**
 * Returns a hash of recheck's `package.json` and of this file. If the cache file contains another
 * hash, its results are not used.
 */
function cacheVersion(): string {
  const lock = join(import.meta.dirname, '../../node_modules/recheck/package.json');
  const hash = createHash('sha256');
  for (const path of [lock, import.meta.filename]) hash.update(readFileSync(path));
  return hash.digest('hex');
}
