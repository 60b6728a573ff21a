import type { Clock } from '../../core/clock.ts';
import type { Post } from '../../model/post.ts';
import type { StoredPost } from './post-rows.ts';
import { buildSample, sampleVersion } from './sample/sample.ts';
import type { ArchiveStore } from './store.ts';

const fact = 'sample_version';

/**
 * Makes the archive hold this version's sample. Does nothing when it already does. A sample that is
 * not wanted stays where it is and is not read: another process may serve it.
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
  const sample = buildSample();
  for (const account of sample.accounts) store.putAccount({ account, stored });
  for (const post of sample.posts) {
    const row = toStoredPost(post, sample.tombstoneParents);
    if (row !== undefined) store.putPost({ ...row, stored });
  }
  for (const repost of sample.reposts) store.putRepost({ platform: 'sample', ...repost, stored });
  for (const { follower, following } of sample.follows) {
    store.putFollow({ platform: 'sample', follower, followed: following, stored });
  }
}

function toStoredPost(
  post: Post,
  parents: ReadonlyMap<string, string>,
): Omit<StoredPost, 'stored'> | undefined {
  if (post.id === null) return undefined;
  const parentId = post.type === 'status' ? post.replying_to?.status : parents.get(post.id);
  return {
    platform: post.platform,
    handle: post.author?.screen_name.toLowerCase() ?? '',
    id: post.id,
    parentId: parentId ?? null,
    created: post.type === 'status' ? post.created_timestamp : 0,
    post,
  };
}
