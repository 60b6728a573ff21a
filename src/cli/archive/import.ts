import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ExportHints } from '../../archive/imports/export-source.ts';
import { fingerprintExport } from '../../archive/imports/fingerprint.ts';
import { exportForms, type OpenedExport, openExport } from '../../archive/imports/forms.ts';
import { runImport } from '../../archive/imports/run-import.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { systemClock } from '../../core/clock.ts';
import { errorCodeOf } from '../../core/files/sqlite.ts';
import { keepHeapSmall } from '../../core/small-heap.ts';
import { parseHandle } from '../../model/reference.ts';
import { chooseByName, parseCommandArgs } from '../arguments.ts';
import {
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  type Run,
  UsageError,
  worstOf,
} from '../command.ts';
import { withStopSignal } from '../stop-signal.ts';
import { createImportProgress } from './import-progress.ts';
import { type ImportResult, toResultLine, toResultText } from './import-result.ts';
import { withArchiveStore } from './open-store.ts';

/** The options of `perch archive import`. */
export const importOptions = {
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
} as const satisfies CommandOptions;

/** `perch archive import FILE…`. */
export function planImport(args: readonly string[]): Run {
  const { values, positionals: paths } = parseCommandArgs(args, importOptions);
  if (paths.length === 0) throw new UsageError('import needs the FILE or folder of an export');
  const forms = toForms(values.form);
  const hints = toHints(values.handle, paths);
  return (context) => {
    const { stdout } = context;
    const print = (result: ImportResult) =>
      values.json === true
        ? stdout.writeJson(toResultLine(result))
        : stdout.write(toResultText(result));
    keepHeapSmall();
    return withArchiveStore(context, 'make', (store) =>
      withStopSignal((signal) => importAll(paths, { context, store, forms, hints, signal, print })),
    );
  };
}

async function importAll(paths: readonly string[], importing: Importing): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  for (const path of paths) {
    if (importing.signal.aborted) break;
    code = worstOf(code, await importOne(path, importing));
  }
  return code;
}

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
  readonly print: (result: ImportResult) => void;
}

/** Imports one export. What is wrong with it is told, and the next one is imported all the same. */
async function importOne(path: string, importing: Importing): Promise<ExitCode> {
  const { stderr } = importing.context;
  try {
    if (!(await isReadable(path))) {
      stderr.write(`perch: ${path} is neither a file nor a folder, so it cannot be imported\n`);
      return exitCodes.usage;
    }
    const opened = await openExport(path, importing);
    if (opened === null) {
      stderr.write(`perch: ${path} is ${tellUnknown(importing.forms)}\n`);
      return exitCodes.usage;
    }
    try {
      return await importOpened(path, opened, importing);
    } finally {
      await opened.source.close();
    }
  } catch (error) {
    const code = errorCodeOf(error) ?? '';
    if (/^SQLITE_|^ENOSPC/.test(code) || isDefect(error)) throw error;
    stderr.write(`perch: ${path} cannot be imported: ${tell(error, code)}\n`);
    return isNowhere(code) ? exitCodes.usage : exitCodes.upstream;
  }
}

/** Exports are read more than once. A pipe can be read but once, and waits for whoever writes it. */
async function isReadable(path: string): Promise<boolean> {
  const found = await stat(path);
  return found.isFile() || found.isDirectory();
}

function tellUnknown([first, ...others]: typeof exportForms): string {
  return others.length === 0
    ? `no export of the form that --form names, ${first?.name}`
    : `no export that is known. ${whatIsKnown}`;
}

const whatIsKnown =
  'There are X exports (account.js and tweets.js, in a folder or zip file), Bluesky repositories (.car), Mastodon exports (actor.json and outbox.json) and the NDJSON of `perch archive export`.';

/** Forms throw plain errors with a sentence; TypeError and its like are faults of ours. */
function isDefect(error: unknown): boolean {
  return !(error instanceof Error) || Object.getPrototypeOf(error) !== Error.prototype;
}

function isNowhere(code: string): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function tell(error: unknown, code: string): string {
  if (isNowhere(code)) return 'there is no such file or folder';
  if (code === 'EACCES') return 'there is no permission to read it';
  return error instanceof Error ? error.message : String(error);
}

async function importOpened(
  path: string,
  { form, source }: OpenedExport,
  { context, store, hints, signal, print }: Importing,
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
  try {
    const outcome = await runImport({
      store,
      source,
      found: { fingerprint, title, name: basename(path), exported },
      clock: systemClock,
      signal,
      onProgress: progress.hear,
      onSkipped: progress.skip,
    });
    progress.end();
    const seconds = (systemClock.now() - begunMs) / 1000;
    print({ path, title, form: form.name, seconds, outcome });
    return outcome.ended === 'stopped' || outcome.isCutOff ? exitCodes.upstream : exitCodes.ok;
  } catch (error) {
    progress.end();
    throw error;
  }
}
