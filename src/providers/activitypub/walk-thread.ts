import { Problem } from '../../lib/problem.ts';
import { createFairQueue } from '../../lib/scheduling/fair-queue.ts';
import { ProviderError } from '../../normalize/provider-error.ts';

/** Post as its own server describes it. `id` and `parent` are URLs of posts. */
export interface ThreadNote {
  readonly id: string;
  readonly parent: string | null;
  /** Whether the server of the post may list replies to it. */
  readonly hasReplies: boolean;
}

/** Page of the replies to a post: URLs of posts, or posts that are on the server of the page. */
export interface RepliesPage<Note> {
  readonly rows: readonly (string | Note)[];
  readonly next: string | null;
  /** Number of replies that the server counts; `null` if it does not say it. */
  readonly total: number | null;
}

/** Functions that read from the server of a post. They throw ProviderError or Problem. */
export interface ThreadSource<Note> {
  readonly readNote: (id: string, signal: AbortSignal) => Promise<Note>;
  readonly readReplies: (
    note: Note,
    cursor: string | null,
    signal: AbortSignal,
  ) => Promise<RepliesPage<Note>>;
}

export interface WalkedThread<Note> {
  /** Earlier posts, oldest first. */
  readonly ancestors: readonly Note[];
  readonly replies: readonly Note[];
  /** First page of the replies to the post; `undefined` if it was not read. */
  readonly firstPage: RepliesPage<Note> | undefined;
  /** Number of listed replies that could not be read. */
  readonly lost: number;
  /** Hosts of posts or lists that could not be read, in the order of their failures. */
  readonly unread: readonly string[];
  /** Whether a limit ended the walk before everything known was read. */
  readonly isCut: boolean;
}

/** Parts of a thread to read, and their limits. */
export interface WalkScope<Note> {
  /** Maximum number of earlier posts. */
  readonly ancestors: number;
  /** Maximum number of replies; 0 to read none. */
  readonly replies: number;
  /** Number of entries in lists of replies after which no further list is read. */
  readonly listed: number;
  /** Maximum number of pages of one list. */
  readonly pages: number;
  /** Returns whether the replies to a reply are read too. */
  readonly follows: (reply: Note) => boolean;
}

/** Limits of every walk. `concurrent`, `requests` and `posts` are for each host. */
export const walkLimits = { hosts: 40, concurrent: 3, requests: 200, posts: 200 };

/**
 * Reads the earlier posts and the replies of a post from the servers that wrote them, breadth
 * first. A server that fails once is not asked again. When `signal` is aborted, returns what has
 * been read until then.
 */
export async function walkThread<Note extends ThreadNote>(
  start: Note,
  source: ThreadSource<Note>,
  [scope, signal]: readonly [WalkScope<Note>, AbortSignal],
): Promise<WalkedThread<Note>> {
  const hosts = createHosts(signal);
  const known = new Set([start.id]);
  const seen = new Set([start.id]);
  const above = readAncestors(start, { ...source, hosts, seen, signal }, scope.ancestors);
  const found: Note[] = [];
  let [lost, listed] = [0, 0];
  const add = async (note: Note): Promise<void> => {
    if (known.has(note.id) || !hosts.admit(note.id)) return;
    known.add(note.id);
    seen.add(note.id);
    found.push(note);
    if (note.hasReplies && scope.follows(note)) await readPages(note, null, scope.pages);
  };
  const readOne = async (id: string): Promise<void> => {
    if (seen.has(id)) return;
    seen.add(id);
    const note = await hosts.ask(id, () => source.readNote(id, signal));
    if (note === undefined) lost += 1;
    else await add(note);
  };
  const readPages = async (note: Note, cursor: string | null, left: number) => {
    if (left === 0 || listed >= scope.listed) {
      hosts.cut();
      return undefined;
    }
    const page = await hosts.ask(note.id, () => source.readReplies(note, cursor, signal));
    if (page === undefined) return undefined;
    listed += page.rows.length;
    const below: Promise<unknown>[] = page.rows.map((row) =>
      typeof row === 'string' ? readOne(row) : add(row),
    );
    const next = page.next === cursor ? null : page.next;
    if (next !== null) below.push(readPages(note, next, left - 1));
    await Promise.all(below);
    return page;
  };
  const isAsked = start.hasReplies && scope.replies > 0;
  const firstPage = isAsked ? await readPages(start, null, scope.pages) : undefined;
  const replies = keepPosts(found, scope.replies);
  if (replies.length < found.length) hosts.cut();
  const { unread, isCut } = hosts;
  return { ancestors: await above, replies, firstPage, lost, unread: unread(), isCut: isCut() };
}

const hostOf = ({ id }: ThreadNote): string => new URL(id).host;

/** Keeps the first posts of each host. A host with many takes no place from hosts with few. */
function keepPosts<Note extends ThreadNote>(notes: readonly Note[], max: number): readonly Note[] {
  const nths = new Map<string, number>();
  const placed = notes.map((note) => {
    const nth = (nths.get(hostOf(note)) ?? 0) + 1;
    nths.set(hostOf(note), nth);
    return { note, nth };
  });
  const counts = [...nths.values()];
  let most = Math.max(0, ...counts);
  const countKept = () => counts.reduce((sum, count) => sum + Math.min(count, most), 0);
  while (countKept() > max) most -= 1;
  return placed.filter(({ nth }) => nth <= most).map(({ note }) => note);
}

async function readAncestors<Note extends ThreadNote>(
  start: Note,
  { hosts, seen, signal, readNote }: Pick<ThreadSource<Note>, 'readNote'> & Walk,
  max: number,
): Promise<readonly Note[]> {
  const ancestors: Note[] = [];
  let { parent } = start;
  while (parent !== null && !seen.has(parent) && ancestors.length < max) {
    seen.add(parent);
    const id = parent;
    const note = await hosts.ask(id, () => readNote(id, signal));
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
  posts: number;
  hasFailed: boolean;
}

/** Creates the function that asks hosts, each at most so many times and so many at once. */
function createHosts(signal: AbortSignal) {
  const lanes = new Map<string, Lane>();
  const unread = new Set<string>();
  let isCut = false;
  const turns = createFairQueue({ atOnce: Infinity, atOnceOfAddress: walkLimits.concurrent });
  const laneOf = (host: string): Lane | undefined => {
    const known = lanes.get(host);
    if (known !== undefined || lanes.size >= walkLimits.hosts) return known;
    const lane: Lane = { requests: 0, posts: 0, hasFailed: false };
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
    ask: async <Result>(id: string, read: () => Promise<Result>) => {
      const { host } = new URL(id);
      const lane = laneOf(host);
      if (lane === undefined || lane.requests >= walkLimits.requests) {
        unread.add(host);
        isCut = true;
        return undefined;
      }
      lane.requests += 1;
      const run = async () => {
        if (lane.hasFailed || signal.aborted) throw new ProviderError('unavailable', host);
        return read();
      };
      const client = { address: host, network: null };
      const toDropped = () => new ProviderError('unavailable', host);
      return turns
        .run({ client, signal, run, toDropped })
        .catch((error: unknown) => fail(lane, host, error));
    },
    /** Counts a post of a host. Returns `false` if the host has had its share. */
    admit: (id: string): boolean => {
      const lane = laneOf(new URL(id).host);
      const isAdmitted = lane !== undefined && lane.posts < walkLimits.posts;
      if (isAdmitted) lane.posts += 1;
      else isCut = true;
      return isAdmitted;
    },
    cut: () => {
      isCut = true;
    },
    unread: () => [...unread],
    isCut: () => isCut,
  };
}

const isMissing = (error: unknown) => error instanceof ProviderError && error.kind === 'missing';
