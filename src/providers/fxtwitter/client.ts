import type { HttpAnswer, RequestContext } from '../../core/http/http-client.ts';
import type { Sliced } from '../../core/scheduling/slices.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { parseRows, type Rows } from '../rows.ts';
import type { Upstream } from '../upstream.ts';
import { type Body, cursors, readBody, trueStatus } from './body.ts';
import { type PostPayload, parsePost, type StatusPayload } from './payload.ts';

/** A post with the lists that came with it; null where there was none. */
export interface PostAnswer {
  readonly status: StatusPayload;
  readonly thread: Rows<PostPayload> | null;
  readonly replies: Rows<PostPayload> | null;
  /** Where the replies go on; null at their end. */
  readonly cursor: string | null;
}

/** Which replies the service is asked to put first. */
export type RankingMode = 'likes' | 'recency';

/** Which page of replies is wanted. */
export interface RepliesPlace {
  readonly mode: RankingMode;
  /** Null for the first page. */
  readonly cursor: string | null;
}

/** Asks FxTwitter for posts. Everything throws ProviderError. */
export interface FxTwitterClient {
  /** Gives the post alone. */
  readStatus(id: string, context: RequestContext): Promise<PostAnswer>;
  /** Gives the post alone, or what stands in its place where that is known. */
  readRow(id: string, context: RequestContext): Promise<PostPayload>;
  /** Gives the post with its ancestors and its author's continuation. */
  readThread(id: string, context: RequestContext): Promise<PostAnswer>;
  /** Reads the post with its ancestors and a page of replies. */
  readConversation(id: string, place: RepliesPlace, context: RequestContext): Promise<PostAnswer>;
}

/** Creates a client of the reads of a post. */
export function createClient(upstream: Upstream): FxTwitterClient {
  const read = async (path: string, context: RequestContext) =>
    readPost(await upstream.get(path, context), context);
  const statusPath = (id: string) => `/2/status/${encodeURIComponent(id)}`;
  return {
    readStatus: (id, context) => read(statusPath(id), context),
    readRow: async (id, context) => {
      const answer = await upstream.get(statusPath(id), context);
      const row = readRow(answer, readBody(answer));
      return { ...row, id: row.id ?? id };
    },
    readThread: (id, context) => read(`/2/thread/${encodeURIComponent(id)}`, context),
    readConversation: (id, { mode, cursor }, context) => {
      const onward = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/2/conversation/${encodeURIComponent(id)}?ranking_mode=${mode}${onward}`;
      return read(path, context);
    },
  };
}

async function readPost(answer: HttpAnswer, sliced: Sliced): Promise<PostAnswer> {
  const body = readBody(answer);
  const status = readRow(answer, body);
  if (status.type === 'tombstone') throw toMissing(status.reason);
  return {
    status,
    thread: await parseRows(body?.thread, parsePost, sliced),
    replies: await parseRows(body?.replies, parsePost, sliced),
    cursor: cursors.parse(body?.cursor)?.bottom ?? null,
  };
}

/** What a 401 without a post means: its author is protected (FxTwitter, section 7). */
const protectedPost: PostPayload = { type: 'tombstone', id: null, reason: 'private', author: null };

/** A tombstone is the answer whatever the status; v1 calls the post `tweet`. */
function readRow(answer: HttpAnswer, body: Body | null): PostPayload {
  const row = parsePost(body?.status ?? body?.tweet);
  if (row !== null && (row.type === 'tombstone' || answer.status === 200)) return row;
  if (trueStatus(answer, body) === 401 && namesNoPost(body)) return protectedPost;
  throw readFailure(answer, body);
}

function readFailure(answer: HttpAnswer, body: Body | null): ProviderError {
  const status = trueStatus(answer, body);
  const failure = toStatusFailure(status, answer.retryAfterSeconds);
  if (failure !== null) return failure;
  // An outage of X looks the same (FxTwitter, section 7), and so may a refused id.
  const ambiguous = status === 404 ? namesNoPost(body) : status === 400 && body !== null;
  if (!ambiguous) return createMalformed();
  return new ProviderError('ambiguous', 'The source has no such post, or could not look for it.');
}

function namesNoPost(body: Body | null): boolean {
  if (body === null || !('status' in body || 'tweet' in body)) return false;
  return (body.status ?? body.tweet ?? null) === null;
}
