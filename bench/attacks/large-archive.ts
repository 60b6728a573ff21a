import { type ArchiveStore, openArchiveStore } from '../../src/archive/store/store.ts';
import { toIsoSeconds } from '../../src/lib/clock.ts';
import { toAccount } from '../../src/model/account.ts';
import { toMediaSet } from '../../src/model/media.ts';
import type { Status } from '../../src/model/post.ts';

/** Handle of the X account whose export is in the large archive. */
export const collector = 'collector';

const baseUrl = 'http://localhost:8080';
const firstSecond = 1_500_000_000;
const stored = 1_790_000_000;
const sizes = { posts: 200_000, reposts: 150_000, followers: 1_000_000 } as const;

/**
 * Fills the archive at `path` with one account that has 200,000 posts, none of which is a reply or has media, 150,000
 * reposts of such posts, and 1,000,000 followers. Takes about a minute.
 */
export function fillLargeArchive(path: string): void {
  const store = openArchiveStore(path, baseUrl);
  try {
    store.transact(() => {
      store.putAccount({ account: accountOf(collector), stored });
      for (let n = 0; n < sizes.posts; n += 1) putPost(store, collector, n);
      for (let n = 0; n < sizes.reposts; n += 1) putRepost(store, n);
      for (let n = 0; n < sizes.followers; n += 1) {
        const follower = `follower${n}`;
        store.putFollow({ platform: 'x', follower, followed: collector, stored });
      }
    });
  } finally {
    store.close();
  }
}

function putRepost(store: ArchiveStore, n: number): void {
  const postHandle = `writer${n % 100}`;
  const postId = putPost(store, postHandle, sizes.posts + n);
  const created = firstSecond + 60 * n + 30;
  store.putRepost({ platform: 'x', handle: collector, postHandle, postId, created, stored });
}

function putPost(store: ArchiveStore, handle: string, n: number): string {
  const created = firstSecond + 60 * n;
  const post = postOf(handle, `${1_000_000_000_000 + n}`, created);
  const of = { platform: 'x', handle, id: post.id, parentId: null } as const;
  store.putPost({ ...of, created, stored, post });
  return post.id;
}

const accountOf = (handle: string) =>
  toAccount({ id: handle, screen_name: handle, name: handle, url: '', platform: 'x' });

function postOf(handle: string, id: string, created: number): Status {
  return {
    type: 'status',
    id,
    url: `https://x.com/${handle}/status/${id}`,
    text: `the heron and the gate of the river and the ${id} of the morning`,
    facets: [],
    created_at: toIsoSeconds(created * 1000),
    created_timestamp: created,
    author: accountOf(handle),
    lang: 'en',
    replies: 0,
    reposts: 0,
    likes: 0,
    quotes: 0,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: false,
    replying_to: null,
    quote: null,
    reposted_by: null,
    media: toMediaSet([]),
    poll: null,
    article: null,
    content_warning: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'x',
  };
}

/** Creates the archive in a folder as a process of its own: `large-archive.ts PATH`. */
if (process.argv[1] === import.meta.filename) fillLargeArchive(process.argv[2] ?? '');
