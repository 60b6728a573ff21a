import type { ArchiveStore } from '../../archive/store/store.ts';
import {
  type AccountReference,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import { parseCommandArgs } from '../arguments.ts';
import {
  type CommandContext,
  type CommandOption,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  type Run,
  UsageError,
} from '../command.ts';
import { toCount } from './import-progress.ts';
import { withArchiveStore } from './open-store.ts';

/** The option that names the platform of a handle. */
export const platformOption = {
  type: 'string',
  value: 'NAME',
  about: 'Where a handle could be of several platforms: x, bluesky or mastodon.',
} as const satisfies CommandOption;

/** The options of `perch archive remove`. */
export const removeOptions = { platform: platformOption } as const satisfies CommandOptions;

/** `perch archive remove HANDLE`. */
export function planRemove(args: readonly string[]): Run {
  const { values, positionals } = parseCommandArgs(args, removeOptions);
  const [text, ...more] = positionals;
  if (text === undefined || more.length > 0) throw new UsageError('remove needs one HANDLE');
  const account = toArchivedAccount(text, values.platform);
  return (context) =>
    withArchiveStore(context, 'empty', async (store) => removeFrom(store, account, context));
}

function removeFrom(
  store: ArchiveStore,
  { platform, handle: asked }: AccountReference,
  { stdout, stderr }: CommandContext,
): ExitCode {
  // An account of Bluesky may be named by its DID.
  const handle = store.findAccount({ platform, handle: asked })?.handle ?? asked;
  const kept = store.dropKept({ platform, handle });
  const removed = store.removeAccount({ platform, handle });
  if (kept > 0) {
    stdout.write(
      `The imported history of ${asked} on ${platform} is removed: ${toCount(kept)} posts\n`,
    );
  }
  if (removed === undefined) {
    if (kept > 0) return exitCodes.ok;
    stderr.write(
      `perch: the archive does not hold ${asked} on ${platform}; \`perch archive list\` shows what it holds\n`,
    );
    return exitCodes.notFound;
  }
  const { posts, reposts, follows, others } = removed;
  stdout.write(
    `${handle} on ${platform} is removed: ${toCount(posts)} posts, ${toCount(reposts)} reposts with ${toCount(others)} posts of others, ${toCount(follows)} follows\n`,
  );
  return exitCodes.ok;
}

/**
 * Reads the handle of an account that the archive may hold.
 *
 * @throws UsageError for what is no handle, no platform, or the sample's
 */
export function toArchivedAccount(text: string, platform: string | undefined): AccountReference {
  const named = platform === undefined ? undefined : platforms.safeParse(platform).data;
  if (platform !== undefined && (named === undefined || named === 'sample')) {
    throw new UsageError(`--platform is x, bluesky or mastodon, not ${JSON.stringify(platform)}`);
  }
  const account = parseHandle(text);
  // An archive may hold a handle that no request can ask for; whoever names the platform may name it.
  if (named !== undefined) return { platform: named, handle: text.replace(/^@/, '').toLowerCase() };
  if (account === null) throw new UsageError(`${JSON.stringify(text)} is no handle`);
  if (account.platform === 'sample') {
    throw new UsageError(
      'the sample is no part of what is exported and removed; PERCH_SAMPLE=false leaves it out',
    );
  }
  return account;
}
