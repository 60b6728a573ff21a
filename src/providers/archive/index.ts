import { seedSample } from '../../archive/sample.ts';
import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import type { Clock } from '../../core/clock.ts';
import { withPath } from '../../core/files/private-files.ts';
import type { Query, QueryKind } from '../../model/queries.ts';
import type { PostReference } from '../../model/reference.ts';
import { withBounds } from '../bounds.ts';
import { type Ask, type Coverage, type Provider, platformOf, readNames } from '../provider.ts';
import { type ArchiveReader, openReaderProcesses } from './reader.ts';
import { createReads } from './reads.ts';

interface ArchiveOptions {
  /** Path of the database, or `:memory:`. */
  readonly path: string;
  readonly sample: boolean;
  /** Base URL of this server, for the permalinks of sample posts. */
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Opens the reader of imported posts. Default: `openReaderProcesses`. */
  readonly openReader?: typeof openReaderProcesses;
}

/** Opens the provider of imported posts and sample data. @throws Error if it cannot be opened */
export function openArchive(options: ArchiveOptions): Provider {
  const { path, sample, openReader = openReaderProcesses } = options;
  const store = openSeededStore(options);
  const reader = path === ':memory:' ? null : openReader(options);
  return withBounds({
    name: 'archive',
    platforms: [...(sample ? (['sample'] as const) : []), 'x', 'bluesky', 'mastodon'],
    reads: new Set(readNames),
    covers: (query) => covers(store, query, sample),
    ask: createAsk(store, sample, reader),
    isLocal: true,
    listStored: () => [
      ...(store.hasImports() ? ['the imported accounts'] : []),
      ...(sample ? ['the sample, such as the account `ada.example`'] : []),
    ],
    close: () => {
      reader?.close();
      store.close();
    },
  });
}

function openSeededStore({ path, baseUrl, sample, clock }: ArchiveOptions): ArchiveStore {
  const store = openArchiveStore(path, baseUrl);
  try {
    if (sample) withPath(path, () => seedSample(store, clock));
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

function createAsk(
  store: ArchiveStore,
  sample: boolean,
  reader: ArchiveReader | null,
): Provider['ask'] {
  const here = createReads(store, sample);
  const isOfSample = (query: Query) => platformOf(query) === 'sample' || !store.hasImports();
  const toAsk =
    <Kind extends QueryKind>(kind: Kind): Ask<Kind> =>
    async (query, context) =>
      reader === null || isOfSample(query) ? here[kind](query) : reader.read(kind, query, context);
  return {
    post: toAsk('post'),
    replies: toAsk('replies'),
    profile: toAsk('profile'),
    timeline: toAsk('timeline'),
    followers: toAsk('followers'),
    following: toAsk('following'),
    search: toAsk('search'),
    searchUsers: toAsk('searchUsers'),
  };
}

function covers(store: ArchiveStore, query: Query, sample: boolean): Coverage {
  if (platformOf(query) === 'sample') return sample;
  if ('account' in query) return store.findAccount(query.account) !== undefined;
  if ('post' in query) return coversPost(store, query.post);
  if (query.platform === 'archive') return true;
  return store.hasImports(query.platform) ? 'last resort' : false;
}

function coversPost(store: ArchiveStore, { platform, handle, id }: PostReference): boolean {
  const hasAccount = handle !== null && store.findAccount({ platform, handle }) !== undefined;
  // Ids on X are unique among all accounts, and the handle in a URL may be a former one.
  if (handle === null || platform === 'x') return hasAccount || store.hasPost(platform, id);
  return hasAccount || store.readPost(platform, id, handle) !== undefined;
}
