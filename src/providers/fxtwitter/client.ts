import { z } from 'zod';
import type { HttpAnswer, RequestContext } from '../../core/http/http-client.ts';
import type { RepliesQuery } from '../../model/queries.ts';
import { lenient, words } from '../../platforms/lenient.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { parseRows, type Rows } from '../rows.ts';
import { type Body, readBody, type Upstream } from '../upstream.ts';
import { type PostPayload, parsePost, type StatusPayload } from './payload.ts';

/** A post with the lists that came with it; `null` where there was none. */
export interface PostAnswer {
  readonly status: StatusPayload;
  readonly thread: Rows<PostPayload> | null;
  readonly replies: Rows<PostPayload> | null;
  /** Where the replies go on; `null` at their end. */
  readonly cursor: string | null;
}

type RepliesPlace = Pick<RepliesQuery, 'order' | 'cursor'>;

export type FxTwitterClient = ReturnType<typeof createClient>;

/** Creates the reads of a post. They throw ProviderError. */
export function createClient(upstream: Upstream) {
  const read = async (path: string, context: RequestContext): Promise<PostAnswer> => {
    const answer = await upstream(path, context);
    const body = readBody(answer);
    const status = readRow(answer, body);
    if (status.type === 'tombstone') throw toMissing(status.reason);
    return {
      status,
      thread: await parseRows(body?.thread, parsePost, context),
      replies: await parseRows(body?.replies, parsePost, context),
      cursor: readCursor(body),
    };
  };
  const statusPath = (id: string) => `/2/status/${encodeURIComponent(id)}`;
  return {
    readStatus: (id: string, context: RequestContext) => read(statusPath(id), context),
    /** Reads the post alone, or the tombstone in its place. */
    readRow: async (id: string, context: RequestContext): Promise<PostPayload> => {
      const answer = await upstream(statusPath(id), context);
      const row = readRow(answer, readBody(answer));
      return { ...row, id: row.id ?? id };
    },
    /** Reads the post with its ancestors and its author's continuation. */
    readThread: (id: string, context: RequestContext) =>
      read(`/2/thread/${encodeURIComponent(id)}`, context),
    /** Reads the post with its ancestors and a page of replies. */
    readConversation: (id: string, { order, cursor }: RepliesPlace, context: RequestContext) => {
      const mode = order === 'recent' ? 'recency' : 'likes';
      const onward = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/2/conversation/${encodeURIComponent(id)}?ranking_mode=${mode}${onward}`;
      return read(path, context);
    },
  };
}

/** A 401 without a post means that its author is protected. */
const protectedPost: PostPayload = { type: 'tombstone', id: null, reason: 'private', author: null };

/** A tombstone is the answer whatever the status; version 1 calls the post `tweet`. */
function readRow(answer: HttpAnswer, body: Body | null): PostPayload {
  const row = parsePost(body?.status ?? body?.tweet);
  if (row !== null && (row.type === 'tombstone' || answer.status === 200)) return row;
  const status = trueStatus(answer, body);
  if (status === 401 && namesNoPost(body)) return protectedPost;
  const failure = toStatusFailure(status, answer.retryAfterSeconds);
  if (failure !== null) throw failure;
  // An outage of X looks the same, and so may a refused id.
  const isAmbiguous = status === 404 ? namesNoPost(body) : status === 400 && body !== null;
  if (!isAmbiguous) throw createMalformed();
  throw new ProviderError('ambiguous', 'The source has no such post, or could not look for it.');
}

function namesNoPost(body: Body | null): boolean {
  if (body === null || !('status' in body || 'tweet' in body)) return false;
  return (body.status ?? body.tweet ?? null) === null;
}

const cursors = lenient(z.object({ bottom: words }));

/** Returns where the list of an answer goes on; `null` at its end. */
export function readCursor(body: Body | null): string | null {
  return cursors.parse(body?.cursor)?.bottom ?? null;
}

/** Returns the status that the service meant: a proxy may answer 200, and then `code` has it. */
export function trueStatus({ status }: HttpAnswer, body: Body | null): number {
  return status === 200 && typeof body?.code === 'number' ? body.code : status;
}

export function toAnswerFailure(answer: HttpAnswer, body: Body | null): ProviderError {
  return toStatusFailure(trueStatus(answer, body), answer.retryAfterSeconds) ?? createMalformed();
}
