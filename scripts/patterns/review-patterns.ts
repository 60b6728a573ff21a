import type { DynamicPlace, FoundPattern } from './find-patterns.ts';
import { measureAttack, type Verdict, writeAttack } from './judge-pattern.ts';
import { type DynamicPatterns, maxMs, type PatternException } from './listed-patterns.ts';

export interface Review {
  readonly literals: readonly FoundPattern[];
  /** Locations in `src` of calls of `RegExp`, which create regular expressions from strings. */
  readonly places: readonly DynamicPlace[];
  /** Regular expressions that modules in `src` created from strings while the check ran. */
  readonly recorded: readonly FoundPattern[];
  readonly exceptions: readonly PatternException[];
  readonly dynamicPatterns: readonly DynamicPatterns[];
  readonly judge: (source: string, flags: string) => Verdict;
}

/**
 * Returns a message for each problem: a regular expression that may be slow, an unneeded entry in `exceptions`, a
 * `RegExp` call that did not run, a `RegExp` call in a file that is missing from `dynamicPatterns`, or a file in
 * `dynamicPatterns` without `RegExp` calls.
 */
export function reviewPatterns(review: Review): readonly string[] {
  const { literals, recorded, exceptions } = review;
  const patterns = [...literals, ...recorded];
  const faults = patterns.flatMap((pattern) => reviewPattern(pattern, review));
  const unneeded = exceptions.filter(
    (exception) => !patterns.some((pattern) => isNeeded(exception, pattern, review)),
  );
  return [
    ...new Set(faults),
    ...unneeded.map(({ file, pattern }) => `${file}: the exception for ${pattern} is not needed.`),
    ...reviewPlaces(review),
  ];
}

function reviewPattern(pattern: FoundPattern, { exceptions, judge }: Review): readonly string[] {
  const verdict = judge(pattern.source, pattern.flags);
  if (verdict.status === 'linear') return [];
  const where = `${pattern.file}:${pattern.line}: ${toLiteral(pattern)}`;
  const exception = exceptions.find((one) => isFor(one, pattern));
  if (exception === undefined) {
    return [
      verdict.status === 'unproved'
        ? `${where} is not proved to be linear (${verdict.reason}).`
        : `${where} takes ${verdict.degree} time, for example for ${JSON.stringify(verdict.attack)}.`,
    ];
  }
  if (verdict.status === 'unproved') return [];
  const ms = measureAttack(pattern, writeAttack(verdict.attack, exception.maxLength));
  return ms < maxMs
    ? []
    : [
        `${where} takes ${ms.toFixed(1)} ms on ${exception.maxLength} characters, over ${maxMs} ms.`,
      ];
}

function isNeeded(exception: PatternException, pattern: FoundPattern, { judge }: Review): boolean {
  return isFor(exception, pattern) && judge(pattern.source, pattern.flags).status !== 'linear';
}

function isFor({ file, pattern }: PatternException, found: FoundPattern): boolean {
  return file === found.file && pattern === toLiteral(found);
}

function toLiteral({ source, flags }: FoundPattern): string {
  return `/${source}/${flags}`;
}

/**
 * Compares the `RegExp` calls in `src` (`places`) with the files in `dynamicPatterns`. Returns a message for each
 * call in a file that is missing from `dynamicPatterns`, for each call that did not run during the check, and for
 * each file in `dynamicPatterns` without `RegExp` calls.
 */
function reviewPlaces({ places, recorded, dynamicPatterns }: Review): readonly string[] {
  const unlisted = places.filter(({ file }) => !dynamicPatterns.some((one) => one.file === file));
  const unseen = places.filter(
    (place) => !recorded.some(({ file, line }) => file === place.file && line === place.line),
  );
  const idle = dynamicPatterns.filter(({ file }) => !places.some((place) => place.file === file));
  return [
    ...unlisted.map(
      ({ file, line }) =>
        `${file}:${line} creates a pattern, but dynamicPatterns does not list ${file}.`,
    ),
    ...unseen.map(({ file, line }) => `${file}:${line} created no pattern to analyse.`),
    ...idle.map(({ file }) => `${file} creates no patterns, but dynamicPatterns lists it.`),
  ];
}
