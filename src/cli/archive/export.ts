import { toHeadLine, toItemLine } from '../../archive/imports/ndjson/ndjson-format.ts';
import { type MediaFolder, openMediaFolder } from '../../archive/media/media-folder.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import { systemClock } from '../../lib/clock.ts';
import { extensionOf } from '../../lib/files/media-type.ts';
import type { AccountReference } from '../../model/reference.ts';
import {
  type Action,
  type CommandContext,
  CommandError,
  chooseByName,
  UsageError,
  withOptions,
} from '../command.ts';
import {
  countOf,
  createOutput,
  explainWriteErrors,
  type Output,
  toCount,
  writeOutputFile,
} from '../output/output.ts';
import { withStopSignal } from '../stop-signal.ts';
import { notArchived, platformOption, toArchivedAccount, withArchiveStore } from './accounts.ts';
import { type ExportFolder, exportMarkdown, openExportFolder } from './export-notes.ts';

interface ExportRequest {
  readonly store: ArchiveStore;
  /** Accounts to export; `null` for all accounts in the archive. */
  readonly accounts: readonly AccountReference[] | null;
  /** Value of `--output`; `undefined` for standard output. */
  readonly output: string | undefined;
  readonly context: CommandContext;
}

const formats: Readonly<Record<string, (request: ExportRequest) => Promise<void>>> = {
  ndjson: exportNdjson,
  markdown: exportNotes,
};

export const exportAction: Action = {
  usage: 'export [HANDLE…] [options]',
  about:
    'Exports the given accounts, or the whole archive, as NDJSON, or one account as a folder of Markdown files.',
  ...withOptions(
    {
      format: {
        type: 'string',
        value: 'NAME',
        choices: Object.keys(formats),
        about:
          'Output format: ndjson (default), or markdown, which writes a file for each thread of one HANDLE to the folder given by --output.',
      },
      output: {
        type: 'string',
        value: 'PATH',
        about: 'File to write to, or folder for markdown. Default: standard output.',
      },
      platform: platformOption,
    },
    ({ format = 'ndjson', output, platform }, positionals) => {
      const write = chooseByName(formats, format, '--format must be one of');
      if (output === '') throw new UsageError('--output is empty. Set it to a file or a folder.');
      const wanted = positionals.map((text) => toArchivedAccount(text, platform));
      return (context) =>
        withArchiveStore(context, 'empty', async (store) => {
          const accounts =
            wanted.length === 0 ? null : wanted.map((one) => findArchived(one, store));
          const request = { store, accounts, output, context };
          return explainWriteErrors(output ?? 'Standard output', () => write(request));
        });
    },
  ),
};

function findArchived(account: AccountReference, store: ArchiveStore): AccountReference {
  const found = store.findAccount(account);
  if (found === undefined) throw notArchived(account);
  // A Bluesky account may be given by its DID.
  return { platform: account.platform, handle: found.handle };
}

async function exportNotes({ store, accounts, output, context }: ExportRequest): Promise<void> {
  const [account, ...others] = accounts ?? [];
  if (account === undefined || others.length > 0 || output === undefined) {
    throw new UsageError('--format markdown needs one HANDLE and --output FOLDER.');
  }
  const { platform } = account;
  const archived = store.findAccount(account);
  if (archived === undefined || archived.isProtected) {
    const fault = `The posts of ${account.handle} on ${platform} are not public, so they cannot be exported to Markdown. Use --format ndjson for a backup.`;
    throw new CommandError('notFound', fault);
  }
  const owner = { platform, handle: archived.handle };
  const folder = openExportFolder(output, owner);
  const { PERCH_DATA_DIR: dataFolder, PERCH_BASE_URL: baseUrl } = context.config;
  const media = createMediaExport({ store, media: openMediaFolder(dataFolder), folder, baseUrl });
  const parts = { store, owner, account: archived.account(), folder, media };
  const { years, isWhole } = await withStopSignal((signal) => exportMarkdown({ ...parts, signal }));
  const counts = (['thread', 'post', 'repost'] as const).map((noun) => {
    const total = years.reduce((sum, year) => sum + year[`${noun}s`], 0);
    return countOf(total, noun);
  });
  const { written, same, removed } = folder.counts;
  context.stdout.write(
    `Exported ${owner.handle} on ${platform} to ${output}: ${counts.join(', ')}\n${countOf(written, 'file')} written, ${toCount(same)} unchanged, ${toCount(removed)} removed\n`,
  );
  if (isWhole) return;
  throw new CommandError('upstream', 'The export was stopped. Run the same command to finish it.');
}

async function exportNdjson(request: ExportRequest): Promise<void> {
  const { output, context } = request;
  if (output === undefined) return writeLines(request, context.stdout);
  await writeOutputFile(output, async (file) => {
    await writeLines(request, createOutput(file));
    return true;
  });
}

function* toLines({ store, accounts }: ExportRequest): Iterable<string> {
  yield toHeadLine(Math.floor(systemClock.now() / 1000));
  for (const account of accounts ?? store.listAccounts()) {
    for (const item of store.readAccountItems(account)) yield toItemLine(item);
  }
  if (accounts !== null) return;
  for (const item of store.readOrphanPosts()) yield toItemLine(item);
}

const batchLength = 65_536;

async function writeLines(request: ExportRequest, output: Output): Promise<void> {
  let batch = '';
  const write = async () => {
    output.writeJson(batch);
    batch = '';
    await output.drained();
  };
  for (const line of toLines(request)) {
    batch += line;
    if (batch.length < batchLength) continue;
    if (output.hasLeft) return;
    await write();
  }
  await write();
}

const mediaFolder = 'media';

const linkPattern = /\]\((https?:[^()\s]*)\/media\/sha256\/([0-9a-f]{64})\)/g;

export type MediaExport = ReturnType<typeof createMediaExport>;

function createMediaExport({
  store,
  media,
  folder,
  baseUrl,
}: Readonly<{ store: ArchiveStore; media: MediaFolder; folder: ExportFolder; baseUrl: string }>) {
  const names = new Map<string, string | null>();
  /** Returns the name of the copy; `null` if the archive does not have the file. */
  const copyOnce = (hash: string): string | null => {
    const known = names.get(hash);
    if (known !== undefined) return known;
    const found = store.findMediaCopy(hash);
    const isStored = found !== undefined && media.has(found);
    const name = isStored ? `${hash}.${extensionOf(found.type)}` : null;
    if (isStored) {
      folder.copy(`${mediaFolder}/${name}`, { from: media.pathOf(hash), bytes: found.bytes });
    }
    names.set(hash, name);
    return name;
  };
  return {
    /** Rewrites links to archived media as relative ones. `up`: path to the export folder. */
    localize: (note: string, up: string): string =>
      note.replace(linkPattern, (link, base: string, hash: string) => {
        const name = base === baseUrl ? copyOnce(hash) : null;
        return name === null ? link : `](${up}${mediaFolder}/${name})`;
      }),
  };
}
