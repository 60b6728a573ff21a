import { Problem } from '../../lib/problem.ts';
import { ProviderError } from '../../normalize/provider-error.ts';

/** Post as its own server describes it. `parent` and `replies` are URLs. */
export interface ThreadNote {
  readonly id: string;
  readonly parent: string | null;
  /** First page of the collection of replies; `null` if there is none, or it is empty. */
  readonly replies: string | null;
}

/** Page of a collection of replies. `notes`: posts of the same server, which need no request. */
export interface RepliesPage<Note> {
  readonly ids: readonly string[];
  readonly notes: readonly Note[];
  readonly next: string | null;
}

/** Functions that read from the server of a URL. They throw ProviderError or Problem. */
export interface ThreadSource<Note> {
  readonly readNote: (url: URL, signal: AbortSignal) => Promise<Note>;
  readonly readReplies: (url: URL, signal: AbortSignal) => Promise<RepliesPage<Note>>;
}

export interface WalkedThread<Note> {
  /** Earlier posts, oldest first. */
  readonly ancestors: readonly Note[];
  readonly replies: readonly Note[];
  /** Hosts of posts or collections that could not be read, in the order of their failures. */
  readonly unread: readonly string[];
  /** Whether a limit ended the walk before everything known was read. */
  readonly isCut: boolean;
}

export const threadLimits = { hosts: 40, posts: 500, perHost: 3, requestsPerHost: 200, pages: 20 };

/**
 * Reads the earlier posts and all replies of a post from the servers that wrote them, breadth
 * first. A server that fails once is not asked again. When `signal` is aborted, returns what has
 * been read until then.
 */
export async function walkThread<Note extends ThreadNote>(
  start: Note,
  source: ThreadSource<Note>,
  signal: AbortSignal,
): Promise<WalkedThread<Note>> {
  const hosts = createHosts(signal);
  const known = new Set([start.id]);
  const seen = new Set([start.id]);
  const ancestors = readAncestors(start, { ...source, hosts, seen, signal });
  const replies: Note[] = [];
  const isFull = (): boolean => {
    if (replies.length < threadLimits.posts) return false;
    hosts.cut();
    return true;
  };
  const add = async (note: Note): Promise<void> => {
    if (known.has(note.id) || isFull()) return;
    known.add(note.id);
    replies.push(note);
    await readPages(note.replies, threadLimits.pages);
  };
  const readOne = async (id: string): Promise<void> => {
    if (seen.has(id) || isFull()) return;
    seen.add(id);
    const note = await hosts.ask(id, (url) => source.readNote(url, signal));
    if (note !== undefined) await add(note);
  };
  const readPages = async (page: string | null, left: number): Promise<void> => {
    if (page === null || seen.has(page)) return;
    if (left === 0) return hosts.cut();
    seen.add(page);
    const read = await hosts.ask(page, (url) => source.readReplies(url, signal));
    if (read === undefined) return;
    for (const { id } of read.notes) seen.add(id);
    const below = [...read.notes.map(add), ...read.ids.map(readOne)];
    await Promise.all([...below, readPages(read.next, left - 1)]);
  };
  await readPages(start.replies, threadLimits.pages);
  return { ancestors: await ancestors, replies, unread: hosts.unread(), isCut: hosts.isCut() };
}

async function readAncestors<Note extends ThreadNote>(
  start: Note,
  { hosts, seen, signal, readNote }: Pick<ThreadSource<Note>, 'readNote'> & Walk,
): Promise<readonly Note[]> {
  const ancestors: Note[] = [];
  let { parent } = start;
  while (parent !== null && !seen.has(parent) && ancestors.length < threadLimits.posts) {
    seen.add(parent);
    const note = await hosts.ask(parent, (url) => readNote(url, signal));
    if (note === undefined) break;
    ancestors.unshift(note);
    parent = note.parent;
  }
  return ancestors;
}

interface Walk {
  readonly hosts: Hosts;
  /** URLs that have been read or will be, so that no loop is followed. */
  readonly seen: Set<string>;
  readonly signal: AbortSignal;
}

type Hosts = ReturnType<typeof createHosts>;

interface Lane {
  requests: number;
  free: number;
  hasFailed: boolean;
  readonly waiting: (() => void)[];
}

/** Creates the function that asks hosts, each at most so many times and so many at once. */
function createHosts(signal: AbortSignal) {
  const lanes = new Map<string, Lane>();
  const unread = new Set<string>();
  let isCut = false;
  const laneOf = (host: string): Lane | undefined => {
    const known = lanes.get(host);
    if (known !== undefined || lanes.size >= threadLimits.hosts) return known;
    const lane: Lane = { requests: 0, free: threadLimits.perHost, hasFailed: false, waiting: [] };
    lanes.set(host, lane);
    return lane;
  };
  const fail = (lane: Lane, host: string, error: unknown): undefined => {
    if (isMissing(error)) return;
    const isOfHost = error instanceof ProviderError || error instanceof Problem;
    if (!isOfHost && !signal.aborted) throw error;
    lane.hasFailed = true;
    unread.add(host);
  };
  return {
    /** Calls `read` when the host is free. Returns `undefined` if the host cannot be read. */
    ask: async <Result>(address: string, read: (url: URL) => Promise<Result>) => {
      const url = new URL(address);
      const lane = laneOf(url.host);
      if (lane === undefined || lane.requests >= threadLimits.requestsPerHost) {
        unread.add(url.host);
        isCut = true;
        return undefined;
      }
      lane.requests += 1;
      await enter(lane);
      try {
        if (lane.hasFailed || signal.aborted) throw new ProviderError('unavailable', url.host);
        return await read(url);
      } catch (error) {
        return fail(lane, url.host, error);
      } finally {
        leave(lane);
      }
    },
    cut: () => {
      isCut = true;
    },
    unread: () => [...unread],
    isCut: () => isCut,
  };
}

async function enter(lane: Lane): Promise<void> {
  if (lane.free > 0) lane.free -= 1;
  else await new Promise<void>((resolve) => lane.waiting.push(resolve));
}

function leave(lane: Lane): void {
  const next = lane.waiting.shift();
  if (next === undefined) lane.free += 1;
  else next();
}

const isMissing = (error: unknown) => error instanceof ProviderError && error.kind === 'missing';
