import type { Clock } from '../../core/clock.ts';
import { readSample, sampleVersion } from '../sample.ts';
import type { ArchiveStore } from './store.ts';

const fact = 'sample_version';

/**
 * Puts this version's sample into the archive, unless it is there. A sample that is not wanted stays
 * and is not read: another process may serve it.
 */
export function seedSample(store: ArchiveStore, clock: Clock): void {
  const version = String(sampleVersion);
  if (store.readFact(fact) === version) return;
  store.transact(() => {
    store.removePlatform('sample');
    putSample(store, Math.floor(clock.now() / 1000));
    store.writeFact(fact, version);
  });
}

function putSample(store: ArchiveStore, stored: number): void {
  const { accounts, posts, reposts, follows } = readSample();
  const platform = 'sample';
  for (const account of accounts) store.putAccount({ account, stored });
  for (const row of posts) {
    const { post } = row;
    const handle = post.author?.screen_name ?? '';
    const created = post.type === 'status' ? post.created_timestamp : 0;
    store.putPost({ ...row, platform, handle, created, stored });
  }
  for (const repost of reposts) store.putRepost({ platform, ...repost, stored });
  for (const [follower, others] of Object.entries(follows)) {
    for (const followed of others) store.putFollow({ platform, follower, followed, stored });
  }
}
