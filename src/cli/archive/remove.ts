import {
  type AccountReference,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import { taking } from '../arguments.ts';
import { type Action, exitCodes, UsageError } from '../command.ts';
import { toCount } from '../output/table.ts';
import { notHeld, withArchiveStore } from './open-store.ts';

/** The option that names the platform of a handle. */
export const platformOption = {
  type: 'string',
  value: 'NAME',
  about: 'Where a handle could be of several platforms: x, bluesky or mastodon.',
} as const;

/** `perch archive remove HANDLE`. */
export const removeAction: Action = {
  usage: 'remove HANDLE [--platform NAME]',
  about: 'Removes an account and all that belongs to it.',
  ...taking({ platform: platformOption }, (values, [text, ...more]) => {
    if (text === undefined || more.length > 0) throw new UsageError('remove needs one HANDLE');
    const asked = toArchivedAccount(text, values.platform);
    const { platform } = asked;
    return (context) =>
      withArchiveStore(context, 'empty', async (store) => {
        const { stdout } = context;
        // An account of Bluesky may be named by its DID.
        const handle = store.findAccount(asked)?.handle ?? asked.handle;
        const kept = store.dropKept({ platform, handle });
        const removed = store.removeAccount({ platform, handle });
        if (kept > 0) {
          stdout.write(
            `The imported history of ${asked.handle} on ${platform} is removed: ${toCount(kept)} posts\n`,
          );
        }
        if (removed !== undefined) {
          const { posts, reposts, follows, others } = removed;
          stdout.write(
            `${handle} on ${platform} is removed: ${toCount(posts)} posts, ${toCount(reposts)} reposts with ${toCount(others)} posts of others, ${toCount(follows)} follows\n`,
          );
        } else if (kept === 0) throw notHeld(asked);
        return exitCodes.ok;
      });
  }),
};

/** Reads the handle of an account that the archive may hold; the sample has none. @throws UsageError */
export function toArchivedAccount(text: string, platform: string | undefined): AccountReference {
  const named = platforms.safeParse(platform).data;
  if (platform !== undefined && (named === undefined || named === 'sample')) {
    throw new UsageError(`--platform is x, bluesky or mastodon, not ${JSON.stringify(platform)}`);
  }
  // An archive may hold a handle that no request can ask for; whoever names the platform may name it.
  if (named !== undefined) return { platform: named, handle: text.replace(/^@/, '').toLowerCase() };
  const account = parseHandle(text);
  if (account === null) throw new UsageError(`${JSON.stringify(text)} is no handle`);
  if (account.platform !== 'sample') return account;
  throw new UsageError(
    'the sample is no part of what is exported and removed; PERCH_SAMPLE=false leaves it out',
  );
}
