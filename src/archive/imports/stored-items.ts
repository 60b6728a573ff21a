import type { ImportCounts } from '../store/import-rows.ts';
import type { ArchiveStore } from '../store/store.ts';
import type { ExportedPost, ExportItem } from './export-source.ts';

/** What an item is put into the archive with. */
export interface Putting {
  readonly store: ArchiveStore;
  /** The number of the import. */
  readonly number: number;
  /** When the export was made, in Unix seconds. */
  readonly exported: number;
}

/** What is held and followed by name is of the export's platform: that of its account. */
export type ImportPlatform = Extract<ExportItem, { kind: 'account' }>['account']['platform'];

/** Puts an item into the archive; gives what it counts as. */
export function putItem(
  item: ExportItem,
  platform: ImportPlatform | null,
  { store, number, exported }: Putting,
): keyof ImportCounts {
  const stored = item.kind === 'skipped' ? exported : (item.stored ?? exported);
  switch (item.kind) {
    case 'account': {
      const { account } = item;
      const handle = account.screen_name.toLowerCase();
      store.putAccount({ account, stored });
      store.noteImported(number, { platform: account.platform, handle });
      return 'accounts';
    }
    case 'post':
      return putPost(item, store, stored);
    case 'repost': {
      const { kind: _kind, stored: _stored, ...repost } = item;
      store.putRepost({ ...repost, platform: takePlatform(platform), stored });
      return 'reposts';
    }
    case 'follow': {
      const { follower, followed } = item;
      store.putFollow({ platform: takePlatform(platform), follower, followed, stored });
      return 'follows';
    }
    case 'skipped':
      return item.cause === 'private' ? 'hidden' : 'faults';
  }
}

function putPost(
  { post, parentId, created }: ExportedPost,
  store: ArchiveStore,
  stored: number,
): keyof ImportCounts {
  if (post.id === null) return 'faults';
  const handle = post.author?.screen_name.toLowerCase() ?? '';
  const { platform, id } = post;
  store.putPost({ platform, handle, id, parentId, created, stored, post });
  return 'posts';
}

function takePlatform(platform: ImportPlatform | null): ImportPlatform {
  if (platform !== null) return platform;
  throw new Error('The export tells of connections before it tells whose they are.');
}
