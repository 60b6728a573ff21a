import { type ArchiveStore, openArchiveStore } from '../../src/archive/store/store.ts';
import type { Status } from '../../src/model/post.ts';
import type { Platform } from '../../src/model/reference.ts';
import { openArchive } from '../../src/providers/archive/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { createManualClock } from './manual-clock.ts';
import { openReaderHere } from './reader-here.ts';
import { temporaryFolder } from './spawn-perch.ts';
import { stubAccount, stubPost } from './stub-provider.ts';

const baseUrl = 'http://localhost:8080';

/** Storage time of all items in these archives, in Unix seconds. */
const stored = 1_790_000_000;

/** Fills the archive of a folder with an account of each platform. Their posts contain `heron` and `gate`. */
export function fillArchive(folder: string, platforms: readonly Platform[]): void {
  const store = openArchiveStore(`${folder}/archive.db`, baseUrl);
  for (const platform of platforms) putAccount(store, platform);
  store.close();
}

function putAccount(store: ArchiveStore, platform: Platform): void {
  const account = { ...stubAccount(`heron_${platform}`), name: 'A heron', platform };
  store.putAccount({ account, stored });
  for (const id of ['21', '22', '23']) {
    const post: Status = {
      ...stubPost(id, { text: `A heron at the gate, ${id}`, created_timestamp: stored }),
      author: account,
      platform,
    };
    const { screen_name: handle } = account;
    store.putPost({ platform, handle, id, parentId: null, created: stored, stored, post });
  }
}

/** Opens an archive with imported accounts and the sample. */
export function openImportedArchive(...platforms: readonly Platform[]): Provider {
  const folder = temporaryFolder();
  fillArchive(folder, platforms);
  const path = `${folder}/archive.db`;
  return openArchive({
    path,
    sample: true,
    baseUrl: '',
    clock: createManualClock(),
    openReader: openReaderHere,
  });
}
