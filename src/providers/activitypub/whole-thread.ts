import type { Clock } from '../../lib/clock.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import {
  hostOf,
  isObject,
  isPostType,
  referencedId,
  typeOf,
} from '../../normalize/activitypub/object.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import type { ProviderContext } from '../provider.ts';
import { createExpiringCache } from '../upstream.ts';
import type { ReadPart } from './collections.ts';
import { readRow, type Sources } from './lists.ts';
import type { ReadObject } from './posts.ts';
import { type ThreadNote, type ThreadSource, threadLimits, walkThread } from './walk-thread.ts';

interface Note extends ThreadNote {
  readonly read: ReadObject;
}

export type WholeThreads = ReturnType<typeof createWholeThreads>;

/** Posts that earlier walks have read are kept this long; lists of replies are always read. */
const memory = { max: 16_777_216, ttlMs: 6 * 3_600_000 };

/** Share of the time for the parts of an answer that the walk may take; authors are read after it. */
const shareOfWalk = 0.8;

/** Creates the reader of the posts of a thread from all servers that wrote them. */
export function createWholeThreads(sources: Sources, clock: Clock) {
  const notes = createExpiringCache<Note>(clock, memory, ({ read }) => JSON.stringify(read).length);
  const toSource = (context: ProviderContext): ThreadSource<Note> => ({
    readNote: async (id, signal) => {
      const known = notes.get(id);
      if (known !== undefined) return known;
      const note = toNote(await sources.posts.read(id, { ...context, signal }));
      notes.set(id, note);
      return note;
    },
    readReplies: (note, cursor, signal) =>
      readReplies(sources, { note, cursor }, { ...context, signal }),
  });
  return {
    /** Removes what is known of a post that its server has deleted. */
    forget: (id: string) => notes.delete(id),
    read: async (focal: ReadObject, context: ProviderContext) => {
      const walked = await withDeadline(sources.partMs * shareOfWalk, [context.signal], (signal) =>
        walkThread(toNote(focal), toSource(context), signal),
      );
      context.signal.throwIfAborted();
      return {
        ancestors: walked.ancestors.map(({ read }) => read),
        replies: walked.replies.map(({ read }) => read),
        warnings: describeUnread(walked),
      };
    },
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
  const part = await readPart(list, { cursor, count: Number.POSITIVE_INFINITY }, context);
  const rows = part.rows.map((row) => readWithin(posts, { row, part }, context));
  const found = await Promise.all(rows);
  return { rows: found.filter((row) => row !== null), next: part.next };
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

/** Returns one warning that names the servers whose posts are missing. */
function describeUnread({ unread, isCut }: Awaited<ReturnType<typeof walkThread>>) {
  const { hosts, posts } = threadLimits;
  const limit = `Perch reads at most ${posts} replies from ${hosts} servers, in the time of one read`;
  if (unread.length > 0) {
    const because = isCut
      ? `${limit}, or because these could not be read`
      : 'they could not be read';
    return [`Posts of these servers are missing, because ${because}: ${unread.join(', ')}.`];
  }
  return isCut ? [`Some replies are missing, because ${limit}.`] : [];
}
