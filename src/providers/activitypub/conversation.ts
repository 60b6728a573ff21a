import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
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
import {
  type ThreadNote,
  type ThreadSource,
  type WalkScope,
  walkLimits,
  walkThread,
} from './walk-thread.ts';

interface Note extends ThreadNote {
  readonly read: ReadObject;
}

export type Conversations = ReturnType<typeof createConversations>;

/** Posts that walks of whole threads have read are kept this long; lists are always read. */
const memory = { max: 16_777_216, ttlMs: 6 * 3_600_000 };

/** Share of the time for the parts of an answer that the walk may take; authors are read after it. */
const shareOfWalk = 0.8;

const usual = { ancestors: 20, replies: 40, listed: 40, pages: 3 };
const whole = {
  ancestors: 200,
  replies: 500,
  listed: walkLimits.hosts * walkLimits.posts,
  pages: 20,
};

/** Creates the reader of the posts around a post, from the servers that wrote them. */
export function createConversations(sources: Sources, clock: Clock) {
  const notes = createExpiringCache<Note>(clock, memory, ({ read }) => JSON.stringify(read).length);
  const toSource = (context: ProviderContext, isWhole: boolean): ThreadSource<Note> => ({
    readNote: async (id, signal) => {
      const known = isWhole ? notes.get(id) : undefined;
      if (known !== undefined) return known;
      const note = toNote(await sources.posts.read(id, { ...context, signal }));
      if (isWhole) notes.set(id, note);
      return note;
    },
    readReplies: (note, cursor, signal) =>
      readReplies(sources, { note, cursor }, { ...context, signal }),
  });
  return {
    /** Removes what is known of a post that its server may have deleted. */
    forget: (id: string) => notes.delete(id),
    /** Reads the thread and the replies that `query` asks for, or all of them (`thread=whole`). */
    read: async (focal: ReadObject, query: PostQuery, context: ProviderContext) => {
      const isWhole = query.thread === 'whole';
      const scope = toScope(focal, query);
      const start = toNote(focal);
      const walked = await withDeadline(sources.partMs * shareOfWalk, [context.signal], (signal) =>
        walkThread(start, toSource(context, isWhole), [scope, signal]),
      );
      context.signal.throwIfAborted();
      const top = walked.ancestors[0] ?? start;
      return {
        ancestors: walked.ancestors.map(({ read }) => read),
        replies: walked.replies.map(({ read }) => read),
        total: walked.firstPage?.total ?? null,
        isRead: walked.firstPage !== undefined || !start.hasReplies || scope.replies === 0,
        warnings: [
          ...(query.thread && top.parent !== null ? [lostParent] : []),
          ...(isWhole ? describeUnread(walked) : describeLost(walked, focal, query)),
        ],
      };
    },
  };
}

function toScope(focal: ReadObject, query: PostQuery): WalkScope<Note> {
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

async function readReplies(
  { posts, readPart }: Sources,
  { note, cursor }: { readonly note: Note; readonly cursor: string | null },
  context: ProviderContext,
) {
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

type Walked = Awaited<ReturnType<typeof walkThread>>;

/** Returns one warning that names the servers whose posts are missing. */
function describeUnread({ unread, isCut }: Walked): readonly string[] {
  const limit = `Perch reads at most ${whole.replies} replies from ${walkLimits.hosts} servers, in the time of one read`;
  if (unread.length > 0) {
    const because = isCut
      ? `${limit}, or because these could not be read`
      : 'they could not be read';
    return [`Posts of these servers are missing, because ${because}: ${unread.join(', ')}.`];
  }
  return isCut ? [`Some replies are missing, because ${limit}.`] : [];
}
