import { type AccountReference, parseHandle, platform as platforms } from '../model/reference.ts';
import { parseCommandArgs } from './arguments.ts';
import {
  type CommandContext,
  type CommandOption,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { toCount } from './import-progress.ts';
import { withArchiveStore } from './open-archive-store.ts';

/** The option that names the platform of a handle. */
export const platformOption = {
  type: 'string',
  value: 'NAME',
  about: 'Where a handle could be of several platforms: x, bluesky or mastodon.',
} as const satisfies CommandOption;

/** The options of `perch archive remove`. */
export const removeOptions = { platform: platformOption } as const satisfies CommandOptions;

/** `perch archive remove HANDLE`. */
export async function planRemove(
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const { values, positionals } = parseCommandArgs(args, removeOptions);
  const [text, ...more] = positionals;
  if (text === undefined || more.length > 0) throw new UsageError('remove needs one HANDLE');
  const account = toArchivedAccount(text, values.platform);
  return withArchiveStore(context, 'empty', async (store) => {
    // An account of Bluesky may be named by its DID.
    const handle = store.findAccount(account)?.handle ?? account.handle;
    const kept = store.dropKept({ ...account, handle });
    const removed = store.removeAccount({ ...account, handle });
    if (kept > 0) {
      context.stdout.write(
        `The imported history of ${account.handle} on ${account.platform} is removed: ${toCount(kept)} posts\n`,
      );
    }
    if (removed === undefined) {
      if (kept > 0) return exitCodes.ok;
      context.stderr.write(
        `perch: the archive does not hold ${account.handle} on ${account.platform}; \`perch archive list\` shows what it holds\n`,
      );
      return exitCodes.notFound;
    }
    const { posts, reposts, follows, others } = removed;
    context.stdout.write(
      `${handle} on ${account.platform} is removed: ${toCount(posts)} posts, ${toCount(reposts)} reposts with ${toCount(others)} posts of others, ${toCount(follows)} follows\n`,
    );
    return exitCodes.ok;
  });
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
