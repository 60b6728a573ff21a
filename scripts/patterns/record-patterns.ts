import { join } from 'node:path';
import type { FoundPattern } from './find-patterns.ts';

const sources = join(import.meta.dirname, '../../src/');

/** Returns the regular expressions that modules under `src/` create from strings while `run` runs. */
export async function recordPatterns(run: () => unknown): Promise<readonly FoundPattern[]> {
  const original = globalThis.RegExp;
  const recorded: FoundPattern[] = [];
  const record = (pattern: RegExp): RegExp => {
    const place = callerOf(new Error().stack ?? '');
    if (place !== null) recorded.push({ ...place, source: pattern.source, flags: pattern.flags });
    return pattern;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: (target, parameters, created) =>
      record(Reflect.construct(target, parameters, created)),
    apply: (target, self, parameters) => record(Reflect.apply(target, self, parameters)),
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return recorded;
}

/**
 * Returns the line of code that called `RegExp`, according to the stack trace `stack`. Returns
 * `null` if the line is not in a module under `src/`.
 */
function callerOf(stack: string): Pick<FoundPattern, 'file' | 'line'> | null {
  const frames = stack.split('\n').filter((frame) => frame.trimStart().startsWith('at '));
  const caller = frames.find(
    (frame) => !frame.includes('record-patterns') && !frame.includes('Reflect.'),
  );
  const start = caller?.indexOf(sources) ?? -1;
  const [, file, line] = /^(.+\.ts):(\d+):/.exec(caller?.slice(start + sources.length) ?? '') ?? [];
  return start < 0 || file === undefined ? null : { file, line: Number(line) };
}
