import type { ArchiveStore } from '../store/store.ts';
import type { MediaFolder } from './media-folder.ts';

type Store = Pick<ArchiveStore, 'transact' | 'deleteUnusedMedia' | 'findMediaCopy'>;

/**
 * Deletes media files without a reference or row, and interrupted imports' temporary files unless
 * another process stores media files. Returns the number of deleted files that had a row.
 */
export function removeUnusedMedia(store: Store, folder: MediaFolder): number {
  folder.removeInterrupted();
  return removeFiles(store, folder);
}

/** Deletes media files without a reference or row. Returns the number of files that had a row. */
export function removeFiles(store: Store, folder: MediaFolder): number {
  let count = 0;
  // Other processes place files within a transaction, so a file is not stored while it is deleted
  // here.
  store.transact(() => {
    const unused = store.deleteUnusedMedia();
    for (const hash of unused) folder.remove(hash);
    count = unused.length;
  });
  for (const hashes of folder.listHashes()) {
    store.transact(() => {
      for (const hash of hashes) if (store.findMediaCopy(hash) === undefined) folder.remove(hash);
    });
  }
  return count;
}
