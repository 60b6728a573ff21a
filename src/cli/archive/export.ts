import { toHeadLine, toItemLine } from '../../archive/imports/ndjson/line.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { systemClock } from '../../core/clock.ts';
import type { AccountReference } from '../../model/reference.ts';
import { chooseByName, taking } from '../arguments.ts';
import {
  type Action,
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
} from '../command.ts';
import { createOutput, type Output } from '../output/output.ts';
import { tellOutputFaults, writeOutputFile } from '../output/output-file.ts';
import { toCount } from '../output/table.ts';
import { withStopSignal } from '../stop-signal.ts';
import { openExportFolder } from './export-folder.ts';
import { exportMarkdown } from './export-markdown.ts';
import { notHeld, withArchiveStore } from './open-store.ts';
import { platformOption, toArchivedAccount } from './remove.ts';

interface ExportRequest {
  readonly store: ArchiveStore;
  /** Accounts that are held; `null` for everything that is held. */
  readonly accounts: readonly AccountReference[] | null;
  /** As given by `--output`; undefined for standard output. */
  readonly output: string | undefined;
  readonly context: CommandContext;
}

/** Functions that write an archive, by the name of the format. */
const formats: Readonly<Record<string, (request: ExportRequest) => Promise<ExitCode>>> = {
  ndjson: exportNdjson,
  markdown: exportNotes,
};

/** `perch archive export [HANDLE…]`. */
export const exportAction: Action = {
  usage: 'export [HANDLE…] [options]',
  about:
    'Writes what is held, of these accounts or of all, as NDJSON, or one account as a folder of notes.',
  ...taking(
    {
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
    },
    ({ format = 'ndjson', output, platform }, positionals) => {
      const write = chooseByName(formats, format, '--format is one of');
      if (output === '') throw new UsageError('--output is empty; name a file or folder');
      const asked = positionals.map((text) => toArchivedAccount(text, platform));
      return (context) =>
        withArchiveStore(context, 'empty', async (store) => {
          const accounts = asked.length === 0 ? null : findHeld(asked, store);
          const request = { store, accounts, output, context };
          return tellOutputFaults(output ?? 'standard output', () => write(request));
        });
    },
  ),
};

/** Returns accounts as they are held. @throws CommandError for one that is not */
function findHeld(asked: readonly AccountReference[], store: ArchiveStore) {
  const held = store.listHoldings();
  return asked.map((one) => {
    // An account of Bluesky may be named by its DID.
    const named = { ...one, handle: store.findAccount(one)?.handle ?? one.handle };
    const isNamed = ({ platform, handle }: AccountReference) =>
      platform === named.platform && handle === named.handle;
    if (held.some(isNamed)) return named;
    throw notHeld(named);
  });
}

/** Writes the archive of an account as a folder of Markdown, and prints what was written. */
async function exportNotes({ store, accounts, output, context }: ExportRequest): Promise<ExitCode> {
  const [account, ...others] = accounts ?? [];
  if (account === undefined || others.length > 0 || output === undefined) {
    throw new UsageError('export to Markdown needs one HANDLE and --output FOLDER');
  }
  const { platform } = account;
  const held = store.findAccount(account);
  if (held === undefined || held.isProtected) {
    const fault = `the archive shows nobody the posts of ${account.handle} on ${platform}, so there are no notes of them; --format ndjson has them, as a backup`;
    throw new CommandError('notFound', fault);
  }
  const owner = { platform, handle: held.handle };
  const folder = openExportFolder(output, owner);
  const options = { store, owner, account: held.account(), folder };
  const { years, isWhole } = await withStopSignal((signal) =>
    exportMarkdown({ ...options, signal }),
  );
  const [threads, posts, reposts] = (['threads', 'posts', 'reposts'] as const).map((of) =>
    toCount(years.reduce((sum, year) => sum + year[of], 0)),
  );
  const { written, same, removed } = folder.counts;
  context.stdout.write(
    `${owner.handle} on ${platform}: ${threads} threads of ${posts} posts, and ${reposts} reposts, in ${output}\n${toCount(written)} files written, ${toCount(same)} unchanged, ${toCount(removed)} removed\n`,
  );
  if (isWhole) return exitCodes.ok;
  throw new CommandError('upstream', 'stopped; the same command goes on');
}

async function exportNdjson(request: ExportRequest): Promise<ExitCode> {
  const { output, context } = request;
  if (output === undefined) await writeLines(request, context.stdout);
  else {
    await writeOutputFile(output, async (file) => {
      await writeLines(request, createOutput(file));
      return true;
    });
  }
  return exitCodes.ok;
}

function* toLines({ store, accounts }: ExportRequest): Iterable<string> {
  yield toHeadLine(Math.floor(systemClock.now() / 1000));
  for (const account of accounts ?? store.listHoldings()) {
    for (const item of store.readHeld(account)) yield toItemLine(item);
  }
  if (accounts !== null) return;
  for (const item of store.readOthers()) yield toItemLine(item);
}

/** Minimum length of text that is written at once. */
const pieceLength = 65_536;

/** Writes lines as fast as they are taken; ends when nobody takes them any more. */
async function writeLines(request: ExportRequest, output: Output): Promise<void> {
  let piece = '';
  const write = async () => {
    output.writeJson(piece);
    piece = '';
    await output.drained();
  };
  for (const line of toLines(request)) {
    piece += line;
    if (piece.length < pieceLength) continue;
    if (output.hasLeft) return;
    await write();
  }
  await write();
}
