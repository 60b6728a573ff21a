import { onTestFinished } from 'vitest';
import { type ArchiveStore, openArchiveStore } from '../../../../src/archive/store/store.ts';
import type { Account } from '../../../../src/model/account.ts';
import type { Status } from '../../../../src/model/post.ts';
import type {
  ConnectionsQuery,
  Page,
  SearchQuery,
  TimelineQuery,
  UserSearchQuery,
} from '../../../../src/model/queries.ts';
import { openArchive } from '../../../../src/providers/archive/index.ts';
import type { Fetch, Provider } from '../../../../src/providers/provider.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { openReaderHere } from '../../../support/reader-here.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../../../support/stub-provider.ts';

export const baseUrl = 'https://perch.example';

/** Time at which all items are stored, in Unix seconds. */
export const stored = 1_790_000_000;

/** Archive on disk, with the store that writes to it. */
export interface Rig {
  readonly path: string;
  readonly store: ArchiveStore;
  readonly archive: Provider;
}

/** Opens an empty archive, or one with the sample, for one test. */
export function openRig({ sample = false } = {}): Rig {
  const path = `${temporaryFolder()}/archive.db`;
  const archive = openArchive({
    path,
    sample,
    baseUrl,
    clock: createManualClock(),
    openReader: openReaderHere,
  });
  const store = openArchiveStore(path, baseUrl);
  onTestFinished(() => {
    store.close();
    archive.close?.();
  });
  return { path, store, archive };
}

/** Stores an X account. */
export function putAccount(store: ArchiveStore, handle: string, more: Partial<Account> = {}): void {
  store.putAccount({ account: { ...stubAccount(handle), ...more }, stored });
}

/** Stores a post. Default time: second `n` of 2026, where `n` is the id. */
export function putPost(
  store: ArchiveStore,
  id: number | string,
  more: Partial<Status> = {},
): Status {
  const post = stubPost(String(id), { created_timestamp: 1_767_225_600 + Number(id), ...more });
  store.putPost({
    platform: post.platform,
    handle: post.author.screen_name.toLowerCase(),
    id: post.id,
    parentId: post.replying_to?.status ?? null,
    created: post.created_timestamp,
    stored,
    post,
  });
  return post;
}

/** Replaces a post by the placeholder of a deleted one. */
export function putTombstone(store: ArchiveStore, id: number | string, handle = 'wren'): void {
  store.putPost({
    platform: 'x',
    handle,
    id: String(id),
    parentId: null,
    created: 1_767_225_600 + Number(id),
    stored,
    post: {
      type: 'tombstone',
      id: String(id),
      url: null,
      text: 'The post was deleted.',
      reason: 'deleted',
      author: null,
      context: null,
      platform: 'x',
    },
  });
}

const { signal } = new AbortController();

/** Queries an archive. */
export function ask(archive: Provider) {
  const take = <Kind extends 'search' | 'searchUsers' | 'timeline' | 'followers' | 'profile'>(
    kind: Kind,
  ): Fetch<Kind> => {
    const found = archive.fetch[kind];
    if (found === undefined) throw new Error(`The archive does not answer ${kind}.`);
    return found;
  };
  const x = (handle: string) => ({ platform: 'x', handle }) as const;
  return {
    search: (text: string, more: Partial<SearchQuery> = {}) =>
      take('search')(
        {
          kind: 'search',
          platform: 'archive',
          text,
          feed: 'latest',
          sinceSeconds: null,
          untilSeconds: null,
          cursor: null,
          count: 100,
          ...more,
        },
        { signal },
      ),
    users: (text: string, more: Partial<UserSearchQuery> = {}) =>
      take('searchUsers')(
        { kind: 'searchUsers', platform: 'archive', text, cursor: null, count: 100, ...more },
        { signal },
      ),
    timeline: (handle: string, more: Partial<TimelineQuery> = {}) =>
      take('timeline')(
        {
          kind: 'timeline',
          account: x(handle),
          withReplies: true,
          withReposts: true,
          untilSeconds: null,
          cursor: null,
          count: 100,
          ...more,
        },
        { signal },
      ),
    followers: (handle: string, more: Partial<ConnectionsQuery> = {}) =>
      take('followers')(
        { kind: 'followers', account: x(handle), cursor: null, count: 100, ...more },
        { signal },
      ),
    following: (handle: string, more: Partial<ConnectionsQuery> = {}) =>
      (archive.fetch.following ?? take('followers'))(
        { kind: 'following', account: x(handle), cursor: null, count: 100, ...more },
        { signal },
      ),
    profile: (handle: string) =>
      take('profile')({ kind: 'profile', account: x(handle) }, { signal }),
  };
}

/** Reads the page of a list at a cursor. */
export interface Steps<Item> {
  page(cursor: string | null, count: number): Promise<Page<Item>>;
  /** Page sizes. The last one is used for all further pages. */
  readonly sizes: readonly number[];
  /** Called before each page but the first. */
  between?(): void;
}

/** Reads all pages of a list, of which all but the last are full. */
export async function readPages<Item>({ page, sizes, between }: Steps<Item>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let index = 0; index < 10_000; index++) {
    if (index > 0) between?.();
    const count = sizes[Math.min(index, sizes.length - 1)] ?? 10;
    const found: Page<Item> = await page(cursor, count);
    items.push(...found.items);
    cursor = found.cursor;
    if (cursor === null) return items;
    if (found.items.length !== count) throw new Error('A page before the last is not full.');
  }
  throw new Error('The list does not end.');
}

/** Change of a list between two pages: an item is stored or removed. */
export type Change<Key> = readonly [isPut: boolean, key: Key];

/** Applies some changes before each page, and collects the removed items. */
export function playBack<Key>(
  changes: readonly (readonly Change<Key>[])[],
  { put, remove }: { put(key: Key): void; remove(key: Key): void },
) {
  const removed = new Set<Key>();
  const pending = [...changes];
  const apply = ([isPut, key]: Change<Key>) => {
    if (isPut) return put(key);
    removed.add(key);
    return remove(key);
  };
  return { removed, between: () => pending.shift()?.forEach(apply) };
}
