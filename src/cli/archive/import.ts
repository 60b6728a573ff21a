import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type {
  ExportHints,
  ExportSource,
  SkippedRecord,
} from '../../archive/imports/export-source.ts';
import {
  exportFormats,
  fingerprintExport,
  type ImportOutcome,
  type ImportState,
  type OpenedExport,
  openExport,
  runImport,
} from '../../archive/imports/run-import.ts';
import {
  importMedia,
  type MediaCounts,
  type MediaOutcome,
} from '../../archive/media/import-media.ts';
import { openMediaFolder } from '../../archive/media/media-folder.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { errorCodeOf } from '../../lib/files/sqlite.ts';
import { parseHandle } from '../../model/reference.ts';
import {
  type Action,
  type CommandContext,
  CommandError,
  chooseByName,
  type ExitCode,
  exitCodes,
  UsageError,
  withOptions,
  worstOf,
} from '../command.ts';
import { findByCode } from '../output/explain.ts';
import { countOf, type Output, toCount, toElapsed, toJsonLines } from '../output/output.ts';
import { withStopSignal } from '../stop-signal.ts';
import { withArchiveStore } from './accounts.ts';

export const importAction: Action = {
  usage: 'import FILE… [options]',
  about:
    'Imports data exports of accounts (files or folders). To continue a stopped import, run the same command again.',
  ...withOptions(
    {
      form: {
        type: 'string',
        value: 'NAME',
        choices: exportFormats.map(({ name }) => name),
        about: `Format of the exports, if it is not detected: ${exportFormats.map(({ name }) => name).join(', ')}.`,
      },
      handle: {
        type: 'string',
        value: 'HANDLE',
        about: 'Handle of the exported account, if the export contains only its id.',
      },
      media: {
        type: 'boolean',
        isNegative: true,
        about: 'Imports only the texts, and leaves out the pictures, videos and sounds.',
      },
      json: { type: 'boolean', about: 'Prints a line of JSON for each export.' },
    },
    ({ form, handle, media = true, json = false }, paths) => {
      if (paths.length === 0) throw new UsageError('Name the file or folder of an export.');
      const hints = { ...toHints(handle, paths), nowMs: systemClock.now() };
      const settings = { formats: toFormats(form), hints, withMedia: media, json };
      return (context) => {
        keepHeapSmall();
        return withArchiveStore(context, 'create', (store) =>
          withStopSignal(async (signal) => {
            let code: ExitCode = exitCodes.ok;
            for (const path of paths) {
              if (signal.aborted) break;
              code = worstOf(code, await importOne(path, { ...settings, context, store, signal }));
            }
            return code;
          }),
        );
      };
    },
  ),
};

function toFormats(name: string | undefined): typeof exportFormats {
  if (name === undefined) return exportFormats;
  const named = Object.fromEntries(exportFormats.map((format) => [format.name, format]));
  return [chooseByName(named, name, '--form must be one of')];
}

function toHints(handle: string | undefined, paths: readonly string[]): ExportHints {
  if (handle === undefined) return {};
  if (paths.length > 1) throw new UsageError('--handle can be used with one FILE only.');
  const account = parseHandle(handle);
  if (account === null) throw new UsageError(`--handle ${JSON.stringify(handle)} is not a handle.`);
  return { handle: account.handle };
}

interface ImportContext {
  readonly context: CommandContext;
  readonly store: ArchiveStore;
  readonly formats: typeof exportFormats;
  readonly hints: ExportHints;
  readonly withMedia: boolean;
  readonly signal: AbortSignal;
  readonly json: boolean;
}

async function importOne(path: string, importing: ImportContext): Promise<ExitCode> {
  try {
    // An export is read several times, but a pipe can be read only once.
    const found = await stat(path);
    if (!found.isFile() && !found.isDirectory()) {
      const fault = `${path} cannot be imported, because it is neither a file nor a folder.`;
      throw new CommandError('usage', fault);
    }
    const opened = await openExport(path, importing);
    if (opened === null) {
      const exit = importing.formats.length === 1 ? 'usage' : 'faulty';
      throw new CommandError(exit, `${path} is ${describeUnknown(importing.formats)}`);
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

function describeUnknown([first, ...others]: typeof exportFormats): string {
  return others.length === 0
    ? `not an export in the format ${first?.name}, which --form selects. Omit --form to detect the format.`
    : 'not an export that Perch can read. Perch reads X exports (account.js and tweets.js, or data/js of exports from 2012 to 2018, in a folder or zip file), Bluesky repositories (.car), Mastodon exports (actor.json and outbox.json) and the NDJSON of `perch archive export`.';
}

const unreadable: Readonly<Record<string, readonly [exit: 'usage' | 'upstream', reason: string]>> =
  {
    'ENOENT ENOTDIR': ['usage', 'There is no such file or folder.'],
    EACCES: ['upstream', 'You have no permission to read it.'],
  };

function toFault(error: unknown, path: string): CommandError {
  if (error instanceof CommandError) return error;
  // Import formats throw plain errors with a message for users; TypeError and the like are defects.
  const isPlain = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
  if (!isPlain || /^SQLITE_|^ENOSPC/.test(errorCodeOf(error) ?? '')) throw error;
  const [exit, reason] = findByCode(unreadable, error) ?? ['upstream', error.message];
  return new CommandError(exit, `${path} cannot be imported. ${reason}`);
}

async function importOpened(
  path: string,
  { format, files, source }: OpenedExport,
  { context, store, hints, withMedia, signal, json }: ImportContext,
): Promise<ExitCode> {
  const { handle } = hints;
  if (handle !== undefined && !format.takesHandle) {
    const fault = `--handle cannot be used with an ${source.title}, which contains the handle.`;
    throw new UsageError(fault);
  }
  // The same export with another handle is a separate import.
  const given = handle === undefined ? format.name : `${format.name} ${handle}`;
  const { fingerprint, changed } = await fingerprintExport(files, given);
  const { title, exported = changed } = source;
  const name = basename(path);
  const progress = createImportProgress(context.stderr, systemClock, { name, source });
  const newImport = { fingerprint, title, name, exported };
  const begunMs = systemClock.now();
  const run = async (): Promise<Pick<ImportResult, 'outcome' | 'media'>> => {
    const shared = { store, source, signal };
    const outcome = await runImport({ ...shared, ...progress, newImport, clock: systemClock });
    if (!withMedia || outcome.ended === 'stopped') return { outcome, media: null };
    const [owner] = store.listImportedAccounts(outcome.number);
    const { mediaNameOf: nameOf } = source;
    if (nameOf === undefined || owner === undefined) return { outcome, media: null };
    const { PERCH_DATA_DIR: folder, ...limits } = context.config;
    const stored = await importMedia({
      store,
      folder: openMediaFolder(folder),
      owner,
      files: files.all(),
      nameOf,
      limits: {
        fileBytes: limits.PERCH_ARCHIVE_MEDIA_FILE_BYTES,
        totalBytes: limits.PERCH_ARCHIVE_MEDIA_BYTES,
      },
      signal,
      onProgress: progress.onMedia,
    });
    return { outcome, media: { ...stored, missing: store.countMissingMedia(owner) } };
  };
  const { outcome, media } = await run().finally(progress.end);
  const result = { path, seconds: (systemClock.now() - begunMs) / 1000, outcome, media };
  if (json) context.stdout.writeJson(toJsonLines([toResultMembers(result, format.name)]));
  else context.stdout.write(toResultText(result, title));
  const isWhole = outcome.ended !== 'stopped' && !outcome.isCutOff;
  if (!isWhole || (media !== null && media.ended !== 'done')) return exitCodes.upstream;
  return hasRecords(outcome) ? exitCodes.ok : exitCodes.faulty;
}

const hasRecords = ({ counts: { posts, reposts, follows } }: ImportOutcome): boolean =>
  posts + reposts + follows > 0;

interface ImportResult {
  readonly path: string;
  readonly seconds: number;
  readonly outcome: ImportOutcome;
  /** Result of storing media files; `null` if media files were not imported. */
  readonly media: MediaResult | null;
}

function toResultText({ path, seconds, outcome, media }: ImportResult, title: string): string {
  const { counts, ended } = outcome;
  const nouns = ['account', 'post', 'repost', 'follow'] as const;
  const read = nouns.map((noun) => countOf(counts[`${noun}s`], noun)).join(', ');
  const time = ended === 'known' ? 'already imported' : `${seconds.toFixed(1)} s`;
  const remarks = [
    counts.faults > 0 && `${countOf(counts.faults, 'record')} could not be read.`,
    counts.hidden > 0 && `${countOf(counts.hidden, 'record')} skipped: not public.`,
    outcome.isCutOff && 'The export is incomplete. Download it again and import it.',
    ended === 'stopped' && 'The import was stopped. Run the same command to continue.',
    ended !== 'stopped' && !hasRecords(outcome) && describeNothing(outcome),
    ...(media === null ? [] : describeMedia(media)),
    ...describeLeftOut(outcome),
  ];
  const lines = remarks.flatMap((text) => (text === false ? [] : [`  ${text}\n`]));
  return `${path}: ${title}, ${read}; ${time}\n${lines.join('')}`;
}

const describeNothing = ({ counts }: ImportOutcome): string =>
  counts.accounts > 0
    ? 'Nothing but the account was imported: the export has no posts, reposts or follows that Perch can read.'
    : 'Nothing was imported.';

function describeLeftOut({ counts, leftOut }: ImportOutcome): readonly string[] {
  const more = counts.left_out - leftOut.length;
  return [
    ...leftOut.map(
      ({ name, count, unit, reason }) => `left out: ${name}, ${countOf(count, unit)}: ${reason}`,
    ),
    ...(more > 0 ? [`left out: ${countOf(more, leftOut.length > 0 ? 'more file' : 'file')}`] : []),
  ];
}

function toResultMembers({ path, seconds, outcome, media }: ImportResult, form: string) {
  const { ended, counts, isCutOff, resumedAfter, leftOut } = outcome;
  const state = { ended, cut_off: isCutOff, resumed_after: resumedAfter };
  const left_out = leftOut.map(({ kind: _kind, name, ...rest }) => ({ file: name, ...rest }));
  const { left_out: left_out_files, ...numbers } = counts;
  const files = media && { ended: media.ended, ...media.counts, missing: media.missing };
  return {
    file: path,
    form,
    ...state,
    ...numbers,
    left_out_files,
    left_out,
    media: files,
    seconds,
  };
}

const maxWarnings = 20;

const barWidth = 10;

const everyMs = 100;

export function createImportProgress(
  stderr: Output,
  clock: Clock,
  { name, source }: Readonly<{ name: string; source: ExportSource }>,
) {
  const begunMs = clock.now();
  let dueMs = begunMs + everyMs;
  let itemsBefore: number | null = null;
  let warnings = 0;
  const write = (text: string) => stderr.write(`perch: ${text}\n`);
  const show = (describe: (elapsedMs: number) => string) => {
    const nowMs = clock.now();
    if (nowMs < dueMs) return;
    dueMs = nowMs + everyMs;
    const elapsedMs = nowMs - begunMs;
    stderr.showLine(`perch: ${describe(elapsedMs)}, ${toElapsed(elapsedMs)}, ${name}`);
  };
  return {
    onProgress: ({ items }: ImportState) => {
      const before = itemsBefore ?? items;
      itemsBefore = before;
      show((elapsedMs) => {
        const rate = Math.round(((items - before) / elapsedMs) * 1000);
        return `${renderBar(source)}${toCount(items)} items, ${toCount(rate)} per second`;
      });
    },
    /** Shows the progress of storing media files, which starts after all posts are imported. */
    onMedia: ({ stored, bytes, known }: MediaCounts) =>
      show(() => {
        const files = toCount(stored + known);
        return `${files} media files, ${toCount(Math.round(bytes / 1e6))} MB stored`;
      }),
    onSkipped: ({ location, reason, cause, isAccount = false }: SkippedRecord) => {
      if (isAccount) write(reason);
      if (isAccount || cause === 'private') return;
      warnings += 1;
      if (warnings <= maxWarnings) write(`${location} was skipped. ${reason}`);
    },
    end: () => {
      stderr.clearLine();
      if (warnings <= maxWarnings) return;
      stderr.write(`perch: ${toCount(warnings - maxWarnings)} more records were skipped.\n`);
    },
  };
}

function renderBar({ bytesRead, totalBytes }: ExportSource): string {
  if (totalBytes === null || totalBytes === 0) return '';
  const share = Math.min(1, bytesRead / totalBytes);
  const full = Math.floor(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${percent}% [${'#'.repeat(full)}${' '.repeat(barWidth - full)}] `;
}

interface MediaResult extends MediaOutcome {
  /** Number of media files that are neither in the archive nor available at a known URL. */
  readonly missing: number;
}

const reasons = {
  over_quota: 'because the archive would exceed PERCH_ARCHIVE_MEDIA_BYTES',
  too_large: 'because they exceed PERCH_ARCHIVE_MEDIA_FILE_BYTES',
  unsupported: 'because they are not pictures, videos or sounds of a supported type',
  unreadable: 'because they are damaged',
  unused: 'because no imported post contains them',
} as const satisfies Partial<Record<keyof MediaCounts, string>>;

function describeMedia({ ended, counts, missing }: MediaResult): readonly string[] {
  if (ended === 'locked') {
    return [
      'Another import is storing media files. Run the same command again to store these files.',
    ];
  }
  const { stored, bytes, known } = counts;
  const skipped = Object.entries(reasons).flatMap(([name, reason]) => {
    const count = counts[name as keyof typeof reasons]; // a key of `reasons`
    return count === 0 ? [] : [`${countOf(count, 'media file')} left out, ${reason}.`];
  });
  return [
    ...(stored > 0 ? [`${countOf(stored, 'media file')} stored, ${countOf(bytes, 'byte')}.`] : []),
    ...(known > 0 ? [`${countOf(known, 'media file')} already stored.`] : []),
    ...skipped,
    ...(missing > 0
      ? [
          `${countOf(missing, 'media file')} missing: the export contains neither the files nor their full URLs.`,
        ]
      : []),
    ...(ended === 'stopped'
      ? ['The media files are incomplete. Run the same command to continue.']
      : []),
  ];
}

/** Configures V8 to save about 60 MiB. `--optimize-for-size` would slow imports by 25%. */
export function keepHeapSmall(): void {
  for (const flag of ['semi-space-growth-factor=1', 'heap-growing-percent=30', 'expose-gc']) {
    setFlagsFromString(`--${flag}`);
  }
  const collect: unknown = runInNewContext('gc'); // only contexts created after the flag was set have `gc`
  if (typeof collect === 'function') collect();
}
