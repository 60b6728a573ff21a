import type { ImportOutcome } from '../../archive/imports/run-import.ts';
import { toCount } from './import-progress.ts';

/** An import that has ended. */
export interface ImportResult {
  readonly path: string;
  readonly title: string;
  readonly form: string;
  readonly seconds: number;
  readonly outcome: ImportOutcome;
}

/** Gives the result of an import for people. */
export function toResultText({ path, title, seconds, outcome }: ImportResult): string {
  const { counts, ended } = outcome;
  const read = [
    many(counts.accounts, 'account'),
    many(counts.posts, 'post'),
    many(counts.reposts, 'repost'),
    many(counts.follows, 'follow'),
  ].join(', ');
  const time = ended === 'known' ? 'imported before' : `${seconds.toFixed(1)} s`;
  const remarks = [
    ...(counts.faults > 0 ? [`${many(counts.faults, 'record')} could not be read`] : []),
    ...(counts.hidden > 0 ? [`${many(counts.hidden, 'record')} left out: not for everybody`] : []),
    ...(outcome.isCutOff ? ['the export ends too early: get it again and import that'] : []),
    ...(ended === 'stopped' ? ['stopped; the same command goes on from here'] : []),
  ];
  return [`${path}: ${title}, ${read}; ${time}`, ...remarks.map((text) => `  ${text}`), ''].join(
    '\n',
  );
}

function many(count: number, noun: string): string {
  return `${toCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Gives the result of an import as a line of JSON. */
export function toResultLine({ path, form, seconds, outcome }: ImportResult): string {
  const { ended, counts, isCutOff, resumedAfter } = outcome;
  return `${JSON.stringify({
    file: path,
    form,
    ended,
    cut_off: isCutOff,
    resumed_after: resumedAfter,
    ...counts,
    seconds,
  })}\n`;
}
