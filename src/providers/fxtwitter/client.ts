import type { HttpAnswer } from '../../core/http-client.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { ProviderError } from '../provider.ts';
import type { Upstream } from '../upstream.ts';
import { type Body, readBody, trueStatus } from './body.ts';
import {
  type PostPayload,
  parsePost,
  parseRows,
  type Rows,
  type StatusPayload,
} from './payload.ts';

/** A post with the lists that came with it; null where there was none. */
export interface PostAnswer {
  readonly status: StatusPayload;
  readonly thread: Rows<PostPayload> | null;
  readonly replies: Rows<PostPayload> | null;
}

/** Which replies the service is asked to put first. */
export type RankingMode = 'likes' | 'recency';

/** Asks FxTwitter for posts. Everything throws ProviderError. */
export interface FxTwitterClient {
  /** Gives the post alone. */
  readStatus(id: string, signal: AbortSignal): Promise<PostAnswer>;
  /** Gives the post with its ancestors and its author's continuation. */
  readThread(id: string, signal: AbortSignal): Promise<PostAnswer>;
  /** Gives the post with its ancestors and the first page of replies. */
  readConversation(id: string, mode: RankingMode, signal: AbortSignal): Promise<PostAnswer>;
}

/** Creates a client of the reads of a post. */
export function createClient(upstream: Upstream): FxTwitterClient {
  const read = async (path: string, signal: AbortSignal) =>
    readPost(await upstream.get(path, signal));
  return {
    readStatus: (id, signal) => read(`/2/status/${encodeURIComponent(id)}`, signal),
    readThread: (id, signal) => read(`/2/thread/${encodeURIComponent(id)}`, signal),
    readConversation: (id, mode, signal) =>
      read(`/2/conversation/${encodeURIComponent(id)}?ranking_mode=${mode}`, signal),
  };
}

/** A tombstone is the answer whatever the status; v1 calls the post `tweet`. */
function readPost(answer: HttpAnswer): PostAnswer {
  const body = readBody(answer);
  const status = parsePost(body?.status ?? body?.tweet);
  if (status?.type === 'tombstone') throw toMissing(status.reason);
  if (answer.status !== 200 || body === null || status === null) throw readFailure(answer, body);
  return {
    status,
    thread: parseRows(body.thread, parsePost),
    replies: parseRows(body.replies, parsePost),
  };
}

function readFailure(answer: HttpAnswer, body: Body | null): ProviderError {
  const status = trueStatus(answer, body);
  const failure = toStatusFailure(status, answer.retryAfterSeconds);
  if (failure !== null) return failure;
  if (status === 401 && namesNoPost(body)) return toMissing('private');
  // An outage of X looks the same (FxTwitter, section 7), and so may a refused id.
  const ambiguous = status === 404 ? namesNoPost(body) : status === 400 && body !== null;
  if (!ambiguous) return createMalformed();
  return new ProviderError('ambiguous', 'The source has no such post, or could not look for it.');
}

function namesNoPost(body: Body | null): boolean {
  if (body === null || !('status' in body || 'tweet' in body)) return false;
  return (body.status ?? body.tweet ?? null) === null;
}
