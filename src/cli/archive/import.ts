import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ExportHints } from '../../archive/imports/export-source.ts';
import { fingerprintExport } from '../../archive/imports/fingerprint.ts';
import { exportForms, type OpenedExport, openExport } from '../../archive/imports/forms.ts';
import { type ImportOutcome, runImport } from '../../archive/imports/run-import.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { systemClock } from '../../core/clock.ts';
import { errorCodeOf } from '../../core/files/sqlite.ts';
import { keepHeapSmall } from '../../core/small-heap.ts';
import { parseHandle } from '../../model/reference.ts';
import { chooseByName, taking } from '../arguments.ts';
import {
  type Action,
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
  worstOf,
} from '../command.ts';
import { findByCode } from '../output/explain.ts';
import { toCount, toJsonLines } from '../output/table.ts';
import { withStopSignal } from '../stop-signal.ts';
import { createImportProgress } from './import-progress.ts';
import { withArchiveStore } from './open-store.ts';

/** `perch archive import FILE…`. */
export const importAction: Action = {
  usage: 'import FILE… [options]',
  about: 'Reads exports, each a file or a folder; one that was stopped goes on.',
  ...taking(
    {
      form: {
        type: 'string',
        value: 'NAME',
        about: `Takes the exports for this form, where it is not seen by itself: ${exportForms.map(({ name }) => name).join(', ')}.`,
      },
      handle: {
        type: 'string',
        value: 'HANDLE',
        about: 'What the account of the export is called, where only its id is in it.',
      },
      json: { type: 'boolean', about: 'Prints a line of JSON for each export.' },
    },
    ({ form, handle, json = false }, paths) => {
      if (paths.length === 0) throw new UsageError('import needs the FILE or folder of an export');
      const how = { forms: toForms(form), hints: toHints(handle, paths), json };
      return (context) => {
        keepHeapSmall();
        return withArchiveStore(context, 'make', (store) =>
          withStopSignal(async (signal) => {
            let code: ExitCode = exitCodes.ok;
            for (const path of paths) {
              if (signal.aborted) break;
              code = worstOf(code, await importOne(path, { ...how, context, store, signal }));
            }
            return code;
          }),
        );
      };
    },
  ),
};

function toForms(name: string | undefined): typeof exportForms {
  if (name === undefined) return exportForms;
  const named = Object.fromEntries(exportForms.map((form) => [form.name, form]));
  return [chooseByName(named, name, '--form is one of')];
}

/** A handle is that of one account, whose export is named alone. */
function toHints(handle: string | undefined, paths: readonly string[]): ExportHints {
  if (handle === undefined) return {};
  if (paths.length > 1) throw new UsageError('--handle goes with one FILE');
  const account = parseHandle(handle);
  if (account === null) throw new UsageError(`--handle ${JSON.stringify(handle)} is no handle`);
  return { handle: account.handle };
}

interface Importing {
  readonly context: CommandContext;
  readonly store: ArchiveStore;
  readonly forms: typeof exportForms;
  readonly hints: ExportHints;
  readonly signal: AbortSignal;
  readonly json: boolean;
}

/** Imports one export. A fault of it goes to standard error, and the next one is imported all the same. */
async function importOne(path: string, importing: Importing): Promise<ExitCode> {
  try {
    // Exports are read more than once. A pipe can be read but once, and waits for whoever writes it.
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory()) {
      const fault = `${path} is neither a file nor a folder, so it cannot be imported`;
      throw new CommandError('usage', fault);
    }
    const opened = await openExport(path, importing);
    if (opened === null) {
      throw new CommandError('usage', `${path} is ${tellUnknown(importing.forms)}`);
    }
    try {
      return await importOpened(path, opened, importing);
    } finally {
      await opened.source.close();
    }
  } catch (error) {
    const { exit, message } = toFault(error, path);
    importing.context.stderr.write(`perch: ${message}\n`);
    return exit;
  }
}

function tellUnknown([first, ...others]: typeof exportForms): string {
  return others.length === 0
    ? `no export of the form that --form names, ${first?.name}`
    : 'no export that is known. There are X exports (account.js and tweets.js, in a folder or zip file), Bluesky repositories (.car), Mastodon exports (actor.json and outbox.json) and the NDJSON of `perch archive export`.';
}

const unreadable: Readonly<Record<string, readonly [exit: 'usage' | 'upstream', reason: string]>> =
  {
    'ENOENT ENOTDIR': ['usage', 'there is no such file or folder'],
    EACCES: ['upstream', 'there is no permission to read it'],
  };

/** @throws the error itself where it is a fault of the archive or of Perch */
function toFault(error: unknown, path: string): CommandError {
  if (error instanceof CommandError) return error;
  // Forms throw plain errors with a sentence; TypeError and its like are faults of ours.
  const isPlain = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
  if (!isPlain || /^SQLITE_|^ENOSPC/.test(errorCodeOf(error) ?? '')) throw error;
  const [exit, reason] = findByCode(unreadable, error) ?? ['upstream', error.message];
  return new CommandError(exit, `${path} cannot be imported: ${reason}`);
}

async function importOpened(
  path: string,
  { form, source }: OpenedExport,
  { context, store, hints, signal, json }: Importing,
): Promise<ExitCode> {
  const { handle } = hints;
  if (handle !== undefined && !form.takesHandle) {
    throw new UsageError(`--handle is not for an ${source.title}, which names its account itself`);
  }
  // Under another handle it is another import.
  const given = handle === undefined ? form.name : `${form.name} ${handle}`;
  const { fingerprint, changed } = await fingerprintExport(path, given);
  const { title, exported = changed } = source;
  const progress = createImportProgress(context.stderr, systemClock, source);
  const begunMs = systemClock.now();
  const outcome = await runImport({
    store,
    source,
    found: { fingerprint, title, name: basename(path), exported },
    clock: systemClock,
    signal,
    onProgress: progress.hear,
    onSkipped: progress.skip,
  }).finally(progress.end);
  const result = { path, seconds: (systemClock.now() - begunMs) / 1000, outcome };
  if (json) context.stdout.writeJson(toJsonLines([toResultMembers(result, form.name)]));
  else context.stdout.write(toResultText(result, title));
  return outcome.ended === 'stopped' || outcome.isCutOff ? exitCodes.upstream : exitCodes.ok;
}

interface ImportResult {
  readonly path: string;
  readonly seconds: number;
  readonly outcome: ImportOutcome;
}

function toResultText({ path, seconds, outcome }: ImportResult, title: string): string {
  const { counts, ended } = outcome;
  const many = (count: number, noun: string) =>
    `${toCount(count)} ${noun}${count === 1 ? '' : 's'}`;
  const nouns = ['account', 'post', 'repost', 'follow'] as const;
  const read = nouns.map((noun) => many(counts[`${noun}s`], noun)).join(', ');
  const time = ended === 'known' ? 'imported before' : `${seconds.toFixed(1)} s`;
  const remarks = [
    counts.faults > 0 && `${many(counts.faults, 'record')} could not be read`,
    counts.hidden > 0 && `${many(counts.hidden, 'record')} left out: not for everybody`,
    outcome.isCutOff && 'the export ends too early: get it again and import that',
    ended === 'stopped' && 'stopped; the same command goes on from here',
  ];
  const lines = remarks.flatMap((text) => (text === false ? [] : [`  ${text}\n`]));
  return `${path}: ${title}, ${read}; ${time}\n${lines.join('')}`;
}

function toResultMembers({ path, seconds, outcome }: ImportResult, form: string) {
  const { ended, counts, isCutOff, resumedAfter } = outcome;
  const state = { ended, cut_off: isCutOff, resumed_after: resumedAfter };
  return { file: path, form, ...state, ...counts, seconds };
}
