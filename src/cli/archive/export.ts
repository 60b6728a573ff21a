import { toHeadLine, toItemLine } from '../../archive/imports/ndjson/line.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { systemClock } from '../../core/clock.ts';
import type { AccountReference } from '../../model/reference.ts';
import { chooseByName, parseCommandArgs } from '../arguments.ts';
import {
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  type Run,
  UsageError,
} from '../command.ts';
import { createOutput, type Output } from '../output/output.ts';
import { tellOutputFaults } from '../output/output-fault.ts';
import { writeOutputFile } from '../output/output-file.ts';
import { exportToFolder } from './export-notes.ts';
import { withArchiveStore } from './open-store.ts';
import { platformOption, toArchivedAccount } from './remove.ts';

/** What is exported, and where to. */
export interface ExportRequest {
  readonly store: ArchiveStore;
  /** All of them are held. */
  readonly accounts: readonly AccountReference[];
  /** Whether those are all that are held. */
  readonly isWhole: boolean;
  /** As given by `--output`; undefined for standard output. */
  readonly output: string | undefined;
  readonly context: CommandContext;
}

/** How an archive is written, by the name of the format. */
const formats: Readonly<Record<string, (request: ExportRequest) => Promise<ExitCode>>> = {
  ndjson: exportNdjson,
  markdown: exportNotes,
};

/** The options of `perch archive export`. */
export const exportOptions = {
  format: {
    type: 'string',
    value: 'NAME',
    about:
      'How it is written: ndjson, the default, or markdown, which makes a file for each thread of one HANDLE in the folder that --output names.',
  },
  output: {
    type: 'string',
    value: 'PATH',
    about: 'Where it is written: a file, of markdown a folder. Default: standard output.',
  },
  platform: platformOption,
} as const satisfies CommandOptions;

/** `perch archive export [HANDLE…]`. */
export function planExport(args: readonly string[]): Run {
  const { values, positionals } = parseCommandArgs(args, exportOptions);
  const write = chooseByName(formats, values.format ?? 'ndjson', '--format is one of');
  if (values.output === '') throw new UsageError('--output is empty; name a file or folder');
  const asked = positionals.map((text) => toArchivedAccount(text, values.platform));
  return (context) =>
    withArchiveStore(context, 'empty', async (store) => {
      const held = store.listHoldings();
      // An account of Bluesky may be named by its DID.
      const named = asked.map((one) => ({
        ...one,
        handle: store.findAccount(one)?.handle ?? one.handle,
      }));
      const missing = named.find((account) => !held.some((one) => isSame(one, account)));
      if (missing !== undefined) {
        context.stderr.write(
          `perch: the archive does not hold ${missing.handle} on ${missing.platform}; \`perch archive list\` shows what it holds\n`,
        );
        return exitCodes.notFound;
      }
      const isWhole = asked.length === 0;
      const accounts = isWhole ? held : named;
      const request = { store, accounts, isWhole, output: values.output, context };
      return tellOutputFaults(values.output ?? 'standard output', context, () => write(request));
    });
}

function isSame(one: AccountReference, other: AccountReference): boolean {
  return one.platform === other.platform && one.handle === other.handle;
}

async function exportNotes(request: ExportRequest): Promise<ExitCode> {
  const [account, ...others] = request.isWhole ? [] : request.accounts;
  const { store, output, context } = request;
  if (account === undefined || others.length > 0 || output === undefined) {
    throw new UsageError('export to Markdown needs one HANDLE and --output FOLDER');
  }
  return exportToFolder({ store, account, output, context });
}

async function exportNdjson({ output, context, ...request }: ExportRequest): Promise<ExitCode> {
  const lines = toLines(request);
  if (output === undefined) await writeLines(lines, context.stdout);
  else {
    await writeOutputFile(output, async (file) => {
      await writeLines(lines, createOutput(file));
      return true;
    });
  }
  return exitCodes.ok;
}

function* toLines({
  store,
  accounts,
  isWhole,
}: Pick<ExportRequest, 'store' | 'accounts' | 'isWhole'>): Iterable<string> {
  yield toHeadLine(Math.floor(systemClock.now() / 1000));
  for (const account of accounts) {
    for (const item of store.readHeld(account)) yield toItemLine(item);
  }
  if (!isWhole) return;
  for (const item of store.readOthers()) yield toItemLine(item);
}

/** Lines are written together, some 64 KB at once. */
const pieceLength = 65_536;

/** Writes lines as fast as they are taken; ends when nobody takes them any more. */
async function writeLines(lines: Iterable<string>, output: Output): Promise<void> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceLength) continue;
    if (output.hasLeft) return;
    await write(piece, output);
    piece = '';
  }
  await write(piece, output);
}

async function write(piece: string, output: Output): Promise<void> {
  output.writeJson(piece);
  await output.drained();
}
