import { type ChildProcess, fork } from 'node:child_process';
import { seedSample } from '../../archive/sample.ts';
import { type ArchiveStore, openArchiveStore } from '../../archive/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { type EntryPoint, entryPoint } from '../../lib/entry-point.ts';
import { withPath } from '../../lib/files/private-files.ts';
import { createFairQueue } from '../../lib/scheduling/fair-queue.ts';
import type { Answers, Query, QueryKind } from '../../model/queries.ts';
import type { PostReference } from '../../model/reference.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { withBounds } from '../bounds.ts';
import {
  type Coverage,
  type Fetch,
  type Provider,
  type ProviderContext,
  platformOf,
  readNames,
} from '../provider.ts';
import {
  fromFailure,
  type ReaderMessage,
  type ReaderOptions,
  type ReadRequest,
} from './messages.ts';
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
    fetch: createFetch(store, sample, reader),
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

function createFetch(
  store: ArchiveStore,
  sample: boolean,
  reader: ArchiveReader | null,
): Provider['fetch'] {
  const here = createReads(store, sample);
  const isOfSample = (query: Query) => platformOf(query) === 'sample' || !store.hasImports();
  const toFetch =
    <Kind extends QueryKind>(kind: Kind): Fetch<Kind> =>
    async (query, context) =>
      reader === null || isOfSample(query) ? here[kind](query) : reader.read(kind, query, context);
  const kinds = Object.keys(here) as QueryKind[]; // `here` has one member for each kind
  return Object.fromEntries(kinds.map((kind) => [kind, toFetch(kind)]));
}

function covers(store: ArchiveStore, query: Query, sample: boolean): Coverage {
  const platform = platformOf(query);
  if (platform === 'sample') return sample;
  if (platform === 'archive') return true;
  if (!store.hasImports(platform)) return false;
  if ('account' in query) return store.findAccount(query.account) !== undefined;
  return 'post' in query ? coversPost(store, query.post) : 'last resort';
}

function coversPost(store: ArchiveStore, { platform, handle, id }: PostReference): boolean {
  const hasAccount = handle !== null && store.findAccount({ platform, handle }) !== undefined;
  // Ids on X are unique among all accounts, and the handle in a URL may be a former one.
  if (handle === null || platform === 'x') return hasAccount || store.hasPost(platform, id);
  return hasAccount || store.readPost(platform, id, handle) !== undefined;
}

interface ArchiveReader {
  /** @throws ProviderError; errors of SQLite; abort reason of `signal` before the read starts */
  read<Kind extends QueryKind>(
    kind: Kind,
    query: Answers[Kind]['query'],
    context: Pick<ProviderContext, 'client' | 'signal'>,
  ): Promise<Answers[Kind]['found']>;
  close(): void;
}

const maxProcesses = 2;

/** Milliseconds after which a read's process is killed: SQLite cannot be interrupted otherwise. */
const maxReadMs = 3000;

const maxStartMs = 15_000;
const maxHeapMiB = 256;

/** Starts processes when needed. See docs/decisions/0104-other-processes-read-the-archive.md */
export function openReaderProcesses(options: ReaderProcessOptions): ArchiveReader {
  const turns = createFairQueue({ atOnce: maxProcesses, atOnceOfAddress: 1 });
  const idle: ReaderProcess[] = [];
  const all = new Set<ReaderProcess>();
  const start = (): ReaderProcess => {
    const started = startReader(options, () => all.delete(started));
    all.add(started);
    return started;
  };
  const take = (): ReaderProcess => {
    let taken = idle.pop();
    while (taken?.hasEnded) taken = idle.pop();
    return taken ?? start();
  };
  return {
    read: async <Kind extends QueryKind>(
      kind: Kind,
      query: Answers[Kind]['query'],
      { client, signal }: Pick<ProviderContext, 'client' | 'signal'>,
    ) => {
      const message = await turns.run({
        client: client ?? null,
        signal,
        run: async () => {
          const reader = take();
          const reply = await reader.read({ kind, query });
          idle.push(reader);
          return reply;
        },
        toDropped: () => toUnavailable(ended),
      });
      return foundIn(message) as Answers[Kind]['found']; // the reply to a query of this kind
    },
    close: () => {
      turns.close();
      for (const reader of all) reader.kill();
    },
  };
}

interface ReaderProcessOptions extends ReaderOptions {
  readonly clock: Clock;
  /** Script of the processes. Default: `reader-process.ts`. */
  readonly script?: EntryPoint;
}

function foundIn(message: ReaderMessage): Answers[QueryKind]['found'] {
  if (message.kind === 'found') return message.found;
  throw message.kind === 'failed' ? fromFailure(message.failure) : toUnavailable(ended);
}

const tooSlow = `The archive took longer than ${maxReadMs / 1000} seconds for this read, so the read was stopped.`;
const ended = 'The archive could not be read.';

/** Creates the error of a single read, because of which other reads must not be refused. */
const toUnavailable = (message: string, cause?: unknown): ProviderError =>
  new ProviderError('unavailable', message, { isProviderWide: false, cause });

interface ReaderProcess {
  readonly hasEnded: boolean;
  /** Sends a request, of which there is one at a time. Kills the process if it does not answer. */
  read(request: ReadRequest): Promise<ReaderMessage>;
  kill(): void;
}

interface Pending {
  resolve(message: ReaderMessage): void;
  reject(error: ProviderError): void;
}

function startReader(
  { clock, ...options }: ReaderProcessOptions,
  onEnd: () => void,
): ReaderProcess {
  const child = forkReader(options);
  let pending: Pending | null = null;
  let hasEnded = false;
  const nextMessage = (): Promise<ReaderMessage> =>
    new Promise((resolve, reject) => {
      pending = { resolve, reject };
    });
  const end = (cause?: unknown): void => {
    hasEnded = true;
    onEnd();
    pending?.reject(toUnavailable(ended, cause));
  };
  const within = async (ms: number, message: Promise<ReaderMessage>): Promise<ReaderMessage> => {
    const answered = new AbortController();
    const late = clock
      .sleep(ms, answered.signal)
      .then(() => Promise.reject(toUnavailable(tooSlow)));
    try {
      return await Promise.race([message, late]);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      answered.abort();
    }
  };
  child.on('message', (message: ReaderMessage) => pending?.resolve(message));
  child.on('error', end).on('exit', (code, signal) => end({ code, signal }));
  let opened: Promise<ReaderMessage> | null = nextMessage();
  return {
    get hasEnded() {
      return hasEnded;
    },
    read: async (request) => {
      if (opened !== null) {
        const first = await within(maxStartMs, opened);
        if (first.kind !== 'ready') return first;
        opened = null;
      }
      const reply = nextMessage();
      child.send(request, (error) => error && end(error));
      return within(maxReadMs, reply);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function forkReader(options: Omit<ReaderProcessOptions, 'clock'>): ChildProcess {
  const { path, sample, baseUrl, script } = options;
  const { url, execArgv } = script ?? entryPoint('reader-process', import.meta.url);
  const child = fork(url, [JSON.stringify({ path, sample, baseUrl })], {
    execArgv: [...execArgv, `--max-old-space-size=${maxHeapMiB}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The process ends with the server, and does not keep it running.
  child.unref();
  child.channel?.unref();
  return child;
}
