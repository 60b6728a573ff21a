import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import { Problem } from '../../lib/problem.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { createFairQueue } from '../../lib/scheduling/fair-queue.ts';
import type { PostQuery } from '../../model/queries.ts';
import {
  authorOf,
  hostOf,
  isObject,
  isPostType,
  referencedId,
  typeOf,
} from '../../normalize/activitypub/object.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { wantedParts } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { describeOmitted } from '../rows.ts';
import type { ReadPart } from './collections.ts';
import { readRow, type Sources } from './lists.ts';
import type { ReadObject } from './posts.ts';

/** Post as its own server describes it. */
interface Note {
  readonly id: string;
  readonly parent: string | null;
  /** Whether the server of the post may list replies to it. */
  readonly hasReplies: boolean;
  readonly read: ReadObject;
}

export type Conversations = ReturnType<typeof createConversations>;

/** Posts that walks of whole threads have read are kept this long; lists are always read. */
const memory = { max: 16_777_216, ttlMs: 6 * 3_600_000 };

/** Share of the time for the parts of an answer that the walk may take; authors are read after it. */
const shareOfWalk = 0.8;

/** Limits of every walk. `concurrent`, `requests` and `posts` are for each host. */
const limits = { hosts: 40, concurrent: 3, requests: 200, posts: 200 };

/** Limits of a walk. `listed`: entries in lists of replies after which no further list is read. */
const usual = { ancestors: 20, replies: 40, listed: 40, pages: 3 };
const whole = { ancestors: 200, replies: 500, listed: limits.hosts * limits.posts, pages: 20 };

/** Creates the reader of the posts around a post, from the servers that wrote them. */
export function createConversations(sources: Sources, clock: Clock) {
  const notes = createExpiringCache<Note>(clock, memory, ({ read }) => JSON.stringify(read).length);
  const readNote = async (id: string, isWhole: boolean, context: ProviderContext) => {
    const known = isWhole ? notes.get(id) : undefined;
    if (known !== undefined) return known;
    const note = toNote(await sources.posts.read(id, context));
    if (isWhole) notes.set(id, note);
    return note;
  };
  return {
    /** Removes what is known of a post that its server may have deleted. */
    forget: (id: string) => notes.delete(id),
    /** Reads the thread and the replies that `query` asks for, or all of them (`thread=whole`). */
    read: async (focal: ReadObject, query: PostQuery, context: ProviderContext) => {
      const isWhole = query.thread === 'whole';
      const start = toNote(focal);
      const walked = await withDeadline(
        sources.partMs * shareOfWalk,
        [context.signal],
        (signal) => {
          const request = { ...context, signal };
          return walkThread(start, toScope(focal, query), {
            hosts: createHosts(signal),
            readNote: (id) => readNote(id, isWhole, request),
            readReplies: (note, cursor) => readReplies(sources, { note, cursor }, request),
          });
        },
      );
      context.signal.throwIfAborted();
      const top = walked.ancestors[0] ?? start;
      return {
        ancestors: walked.ancestors.map(({ read }) => read),
        replies: walked.replies.map(({ read }) => read),
        total: walked.firstPage?.total ?? null,
        isRead:
          walked.firstPage !== undefined || !start.hasReplies || wantedParts(query).length === 0,
        warnings: [
          ...(query.thread && top.parent !== null ? [lostParent] : []),
          ...(isWhole ? describeUnread(walked) : describeLost(walked, focal, query)),
        ],
      };
    },
  };
}

function toScope(focal: ReadObject, query: PostQuery) {
  const isWhole = query.thread === 'whole';
  const author = authorOf(focal.object);
  return {
    ...(isWhole ? whole : usual),
    ...(query.thread ? {} : { ancestors: 0 }),
    ...(wantedParts(query).length > 0 ? {} : { replies: 0 }),
    // Below the author's own replies, the author's thread continues.
    follows: ({ read }: Note) => isWhole || authorOf(read.object) === author,
  };
}

function toNote(read: ReadObject): Note {
  const { id, note, replies } = read.object;
  const hasReplies = replies.inline !== null || (replies.id !== null && replies.total !== 0);
  return { id, parent: referencedId(note.inReplyTo), hasReplies, read };
}

/** Page of the replies to a post: URLs of posts, or posts that are on the server of the page. */
interface RepliesPage {
  readonly rows: readonly (string | Note)[];
  readonly next: string | null;
  /** Number of replies that the server counts; `null` if it does not say it. */
  readonly total: number | null;
}

interface Walk {
  readonly hosts: ReturnType<typeof createHosts>;
  readonly readNote: (id: string) => Promise<Note>;
  readonly readReplies: (note: Note, cursor: string | null) => Promise<RepliesPage>;
}

type Walked = Awaited<ReturnType<typeof walkThread>>;

/**
 * Reads the earlier posts and the replies of a post from the servers that wrote them, breadth
 * first. A server that fails once is not asked again. When the time is over, returns what has been
 * read until then.
 */
async function walkThread(start: Note, scope: ReturnType<typeof toScope>, walk: Walk) {
  const { hosts, readNote } = walk;
  const known = new Set([start.id]);
  const seen = new Set([start.id]); // URLs that have been read or will be, so that no loop is followed
  const above = readAncestors(start, { ...walk, seen }, scope.ancestors);
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
    const note = await hosts.ask(id, () => readNote(id));
    if (note === undefined) lost += 1;
    else await add(note);
  };
  const readPages = async (note: Note, cursor: string | null, left: number) => {
    if (left === 0 || listed >= scope.listed) {
      hosts.cut();
      return undefined;
    }
    const page = await hosts.ask(note.id, () => walk.readReplies(note, cursor));
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
  return { ancestors: await above, replies, firstPage, lost, ...hosts.describe() };
}

/** Keeps the first posts of each host. A host with many takes no place from hosts with few. */
function keepPosts(notes: readonly Note[], max: number): readonly Note[] {
  const nths = new Map<string, number>();
  const placed = notes.map((note) => {
    const { host } = new URL(note.id);
    const nth = (nths.get(host) ?? 0) + 1;
    nths.set(host, nth);
    return { note, nth };
  });
  const counts = [...nths.values()];
  let most = Math.max(0, ...counts);
  const countKept = () => counts.reduce((sum, count) => sum + Math.min(count, most), 0);
  while (countKept() > max) most -= 1;
  return placed.filter(({ nth }) => nth <= most).map(({ note }) => note);
}

async function readAncestors(
  start: Note,
  { hosts, readNote, seen }: Pick<Walk, 'hosts' | 'readNote'> & { readonly seen: Set<string> },
  max: number,
): Promise<readonly Note[]> {
  const ancestors: Note[] = [];
  let { parent } = start;
  while (parent !== null && !seen.has(parent) && ancestors.length < max) {
    seen.add(parent);
    const id = parent;
    const note = await hosts.ask(id, () => readNote(id));
    if (note === undefined) break;
    ancestors.unshift(note);
    parent = note.parent;
  }
  return ancestors;
}

interface Share {
  requests: number;
  posts: number;
  hasFailed: boolean;
}

/** Creates the function that asks hosts, each at most so many times and so many at once. */
function createHosts(signal: AbortSignal) {
  const turns = createFairQueue({ atOnce: Infinity, atOnceOfAddress: limits.concurrent });
  const shares = new Map<string, Share>();
  const unread = new Set<string>();
  let isCut = false;
  /** Counts a request to a host, or a post of it. Returns `undefined` beyond its share. */
  const take = (host: string, what: 'requests' | 'posts') => {
    const share = shares.get(host) ?? { requests: 0, posts: 0, hasFailed: false };
    if (shares.size < limits.hosts) shares.set(host, share);
    if (!shares.has(host) || share[what] >= limits[what]) {
      isCut = true;
      return undefined;
    }
    share[what] += 1;
    return share;
  };
  const fail = (host: string, share: Share, error: unknown): undefined => {
    if (error instanceof ProviderError && error.kind === 'missing') return;
    const isOfHost = error instanceof ProviderError || error instanceof Problem;
    if (!isOfHost && !signal.aborted) throw error;
    share.hasFailed = true;
    unread.add(host);
  };
  return {
    /** Calls `read` when the host is free. Returns `undefined` if the host cannot be read. */
    ask: async <Result>(id: string, read: () => Promise<Result>) => {
      const { host } = new URL(id);
      const share = take(host, 'requests');
      if (share === undefined) {
        unread.add(host);
        return undefined;
      }
      const toDropped = () => new ProviderError('unavailable', host);
      const run = async () => (share.hasFailed ? Promise.reject(toDropped()) : read());
      return turns
        .run({ client: { address: host, network: null }, signal, run, toDropped })
        .catch((error: unknown) => fail(host, share, error));
    },
    /** Counts a post of a host. Returns `false` if the host has had its share. */
    admit: (id: string): boolean => take(new URL(id).host, 'posts') !== undefined,
    cut: () => {
      isCut = true;
    },
    /**
     * Returns hosts of posts or lists that could not be read, in the order of their failures, and
     * whether a limit ended the walk before everything known was read.
     */
    describe: () => ({ unread: [...unread], isCut }),
  };
}

async function readReplies(
  { posts, readPart }: Sources,
  { note, cursor }: { readonly note: Note; readonly cursor: string | null },
  context: ProviderContext,
): Promise<RepliesPage> {
  const { id, inline } = note.read.object.replies;
  // The first page is often within the post, and needs no request.
  const list = inline === null ? (id ?? note.id) : { url: new URL(note.id), body: inline };
  const part = await readPart(list, { cursor, count: usual.listed }, context);
  const rows = part.rows.map((row) => readWithin(posts, { row, part }, context));
  const found = await Promise.all(rows);
  return { rows: found.filter((row) => row !== null), next: part.next, total: part.total };
}

type Row = { readonly row: unknown; readonly part: Awaited<ReturnType<ReadPart>> };

/** Returns a post that a page contains and its host wrote, or the URL of another; else `null`. */
async function readWithin(posts: Sources['posts'], { row, part }: Row, context: ProviderContext) {
  const id = referencedId(row);
  const isContained =
    isObject(row) && isPostType(typeOf(row)) && id !== null && hostOf(id) === part.url.hostname;
  if (!isContained) return id;
  try {
    return toNote(await readRow(posts, { row, part }, context));
  } catch (error) {
    if (error instanceof ProviderError) return null; // not public, or not a post
    throw error;
  }
}

const lostParent =
  'Earlier posts of this thread are missing: they are not public, or their servers did not send them.';

function describeLost(
  { lost, isCut }: Walked,
  { object: { replies: list } }: ReadObject,
  { replies }: PostQuery,
): readonly string[] {
  if (replies === 'off') return [];
  if (list.id === null && list.inline === null) {
    return ['The server of this post does not list the replies to it.'];
  }
  return [
    ...describeOmitted(lost, 'reply', [
      'it is not public, or its server did not send it',
      'they are not public, or their servers did not send them',
    ]),
    ...(isCut ? [`These are the first ${usual.replies} replies; there are more.`] : []),
  ];
}

/** Returns one warning that names the servers whose posts are missing. */
function describeUnread({ unread, isCut }: Walked): readonly string[] {
  const limit = `Perch reads at most ${whole.replies} replies from ${limits.hosts} servers, in the time of one read`;
  if (unread.length > 0) {
    const because = isCut
      ? `${limit}, or because these could not be read`
      : 'they could not be read';
    return [`Posts of these servers are missing, because ${because}: ${unread.join(', ')}.`];
  }
  return isCut ? [`Some replies are missing, because ${limit}.`] : [];
}
