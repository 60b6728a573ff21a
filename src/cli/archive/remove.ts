import { openMediaFolder } from '../../archive/media/media-folder.ts';
import { removeUnusedMedia } from '../../archive/media/remove-unused.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import {
  type AccountReference,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import { refuseMisspelling, withOptions } from '../arguments.ts';
import { type Action, type CommandContext, exitCodes, UsageError } from '../command.ts';
import { countOf } from '../output/table.ts';
import { notArchived, withArchiveStore } from './open-store.ts';

const archived = platforms.exclude(['sample']).options;

export const platformOption = {
  type: 'string',
  value: 'NAME',
  choices: archived,
  about: `Platform of the handle, if it could belong to several: ${archived.join(', ')}.`,
} as const;

export const removeAction: Action = {
  usage: 'remove HANDLE [--platform NAME]',
  about: 'Removes an account and all its data from the archive.',
  ...withOptions({ platform: platformOption }, (values, [text, ...more]) => {
    if (text === undefined || more.length > 0) throw new UsageError('Name one HANDLE to remove.');
    const account = toArchivedAccount(text, values.platform);
    const { platform } = account;
    return (context) =>
      withArchiveStore(context, 'empty', async (store) => {
        // A Bluesky account may be given by its DID.
        const handle = store.findAccount(account)?.handle ?? account.handle;
        const kept = store.deleteHistory({ platform, handle });
        if (kept > 0) {
          context.stdout.write(
            `Removed the imported history of ${account.handle} on ${platform}: ${countOf(kept, 'post')}.\n`,
          );
        }
        const isRemoved = removeAccount({ platform, handle }, store, context);
        if (!isRemoved && kept === 0) throw notArchived(account);
        return exitCodes.ok;
      });
  }),
};

function removeAccount(
  account: AccountReference,
  store: ArchiveStore,
  { stdout, config }: CommandContext,
): boolean {
  const removed = store.removeAccount(account);
  if (removed === undefined) return false;
  const files = removeUnusedMedia(store, openMediaFolder(config.PERCH_DATA_DIR));
  const { posts, reposts, follows, others } = removed;
  const counts = [
    countOf(posts, 'post'),
    `${countOf(reposts, 'repost')} (with ${countOf(others, 'post')} of other accounts)`,
    countOf(follows, 'follow'),
    ...(files > 0 ? [countOf(files, 'media file')] : []),
  ];
  stdout.write(`Removed ${account.handle} on ${account.platform}: ${counts.join(', ')}.\n`);
  return true;
}

/** Parses a handle. @throws UsageError for invalid handles and built-in sample accounts */
export function toArchivedAccount(text: string, platform: string | undefined): AccountReference {
  const named = platforms.safeParse(platform).data;
  if (platform !== undefined && (named === undefined || named === 'sample')) {
    refuseMisspelling('platform', platform, archived);
    const fault = `--platform must be x, bluesky or mastodon, not ${JSON.stringify(platform)}.`;
    throw new UsageError(fault);
  }
  // With --platform, handles that requests would refuse are accepted, because the archive can
  // contain them.
  if (named !== undefined) return { platform: named, handle: text.replace(/^@/, '').toLowerCase() };
  const account = parseHandle(text);
  if (account === null) throw new UsageError(`${JSON.stringify(text)} is not a handle.`);
  if (account.platform !== 'sample') return account;
  throw new UsageError(
    'The sample cannot be exported or removed. Set PERCH_SAMPLE=false to turn it off.',
  );
}
