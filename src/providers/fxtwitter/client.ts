import * as z from 'zod';
import type { HttpAnswer, RequestContext } from '../../lib/http/http-client.ts';
import type { RepliesQuery } from '../../model/queries.ts';
import { lenient, textOrNull } from '../../normalize/lenient.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { parseRows, type Rows } from '../rows.ts';
import { type Body, readBody, type Upstream } from '../upstream.ts';
import { toPlaceholder, unavailabilityOf } from './unavailable.ts';
import { type PostPayload, parsePost, type StatusPayload } from './wire.ts';

/** Post with its thread and replies, which are `null` if the response does not contain them. */
export interface PostAnswer {
  readonly status: StatusPayload;
  readonly thread: Rows<PostPayload> | null;
  readonly replies: Rows<PostPayload> | null;
  /** Cursor of the next page of replies; `null` at the end of the list. */
  readonly cursor: string | null;
}

type RepliesPlace = Pick<RepliesQuery, 'order' | 'cursor'>;
export type FxTwitterClient = ReturnType<typeof createClient>;

/** Creates the client of the FxTwitter API. Its functions throw ProviderError. */
export function createClient(upstream: Upstream) {
  const read = async (path: string, context: RequestContext): Promise<PostAnswer> => {
    const answer = await upstream(path, context);
    const body = readBody(answer);
    const status = readRow(answer, body);
    if (status.type === 'tombstone') throw toMissing(unavailabilityOf(status));
    return {
      status,
      thread: await parseRows(body?.thread, parsePost),
      replies: await parseRows(body?.replies, parsePost),
      cursor: readCursor(body),
    };
  };
  const statusPath = (id: string) => `/2/status/${encodeURIComponent(id)}`;
  return {
    readStatus: (id: string, context: RequestContext) => read(statusPath(id), context),
    /** Reads a post, or its tombstone (placeholder), without the conversation. */
    readRow: async (id: string, context: RequestContext): Promise<PostPayload> => {
      const answer = await upstream(statusPath(id), context);
      const row = readRow(answer, readBody(answer));
      return { ...row, id: row.id ?? id };
    },
    /** Reads a post with its ancestors and the author's later posts in the thread. */
    readThread: (id: string, context: RequestContext) =>
      read(`/2/thread/${encodeURIComponent(id)}`, context),
    /** Reads a post with its ancestors and a page of replies. */
    readConversation: (id: string, { order, cursor }: RepliesPlace, context: RequestContext) => {
      const mode = order === 'recent' ? 'recency' : 'likes';
      const onward = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/2/conversation/${encodeURIComponent(id)}?ranking_mode=${mode}${onward}`;
      return read(path, context);
    },
  };
}

function readRow(answer: HttpAnswer, body: Body | null): PostPayload {
  const row = parsePost(body?.status ?? body?.tweet);
  if (row !== null && (row.type === 'tombstone' || answer.status === 200)) return row;
  const status = trueStatus(answer, body);
  // FxTwitter sends status 401 without a post for a post by a protected account.
  if (status === 401 && namesNoPost(body)) return toPlaceholder('private');
  const failure = toStatusFailure(status, answer.retryAfterSeconds);
  if (failure !== null) throw failure;
  // An outage of X has the same response. An id that FxTwitter refuses may also have it.
  const isAmbiguous = status === 404 ? namesNoPost(body) : status === 400 && body !== null;
  if (!isAmbiguous) throw createMalformed();
  throw new ProviderError('ambiguous', 'The source has no such post, or could not search for it.');
}

function namesNoPost(body: Body | null): boolean {
  if (body === null || !('status' in body || 'tweet' in body)) return false;
  return (body.status ?? body.tweet ?? null) === null;
}

const cursors = lenient(z.object({ bottom: textOrNull }));

export const readCursor = (body: Body | null): string | null =>
  cursors.parse(body?.cursor)?.bottom ?? null;

/** Returns FxTwitter's own status from the body's `code`: a proxy may change the status to 200. */
export const trueStatus = ({ status }: HttpAnswer, body: Body | null): number =>
  status === 200 && typeof body?.code === 'number' ? body.code : status;

export const toAnswerFailure = (answer: HttpAnswer, body: Body | null): ProviderError =>
  toStatusFailure(trueStatus(answer, body), answer.retryAfterSeconds) ?? createMalformed();

/** Words in `User-Agent` by which FxTwitter detects crawlers, to which it sends no JSON. */
const words = [
  'discordbot',
  'telegrambot',
  'facebook',
  'whatsapp',
  'firefox/92',
  'vkshare',
  'revoltchat',
  'preview',
  'iframely',
] as const;

export const forbiddenInUserAgent = (userAgent: string): string | undefined =>
  words.find((word) => userAgent.toLowerCase().includes(word));
