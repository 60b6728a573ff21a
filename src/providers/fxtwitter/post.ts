import type { RequestContext } from '../../core/http/http-client.ts';
import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import type { Rows } from '../rows.ts';
import type { FxTwitterClient, PostAnswer, RankingMode } from './client.ts';
import { rankReplies, type ThreadLine, uniqueById } from './conversation.ts';
import type { PostPayload } from './payload.ts';
import { tellUnread } from './rows.ts';
import { shapePost, shapeStatus } from './shape.ts';
import { type KnownThread, knownFromConversation, knownFromThread, walkParents } from './thread.ts';
import { tellThrottled } from './throttle.ts';

/** The parts of an answer before they are put in order. */
interface Parts extends KnownThread {
  readonly focal: Status;
  readonly replies: readonly Post[];
}

const noLine: ThreadLine = { ancestors: [], continuation: [] };
const noReplies = 'The replies could not be read.';
const noThread = 'The rest of the thread could not be read.';

/** Makes the read of a post, with its thread and replies where they are wanted. */
export function askPost(client: FxTwitterClient): Ask<'post'> {
  return async (query, context) => {
    const { focal, line, replies, missing, warnings } = await readParts(client, query, context);
    const shown = dropRepeated(focal, line);
    const order = query.replies === 'recent' ? 'recent' : 'top';
    return {
      ...shown,
      post: focal,
      replies: rankReplies(replies, { focalId: focal.id, order, shown }),
      missing,
      warnings,
    };
  };
}

/** Keeps each post once: the one asked for, then the first of each id. */
function dropRepeated(focal: Status, line: ThreadLine): ThreadLine {
  const before = uniqueById<Post>([focal, ...line.ancestors]);
  const all = uniqueById([...before, ...line.continuation]);
  return { ancestors: before.slice(1), continuation: all.slice(before.length) };
}

async function readParts(
  client: FxTwitterClient,
  query: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  if (!query.thread && query.replies === 'off') return readAlone(client, query, context);
  try {
    return await readAround(client, query, context);
  } catch (error) {
    if (!mayBeAlone(error)) throw error;
    return readAlone(client, query, context).catch((second: unknown) => {
      if (isMissing(second)) throw second;
      tellThrottled(context, second);
      throw error;
    });
  }
}

/** Reads what stands around a post, and the post with it. */
async function readAround(
  client: FxTwitterClient,
  query: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  if (query.replies === 'off') {
    return withThread(client, await client.readThread(query.post.id, context), context);
  }
  return query.thread
    ? readThreadAndReplies(client, query, context)
    : readReplies(client, query, context);
}

/**
 * Tells whether the post by itself is worth a try: the service asks X for it in another way than for
 * what stands around it, and one can fail without the other.
 */
function mayBeAlone(error: unknown): boolean {
  return (
    error instanceof ProviderError && (error.kind === 'malformed' || error.kind === 'ambiguous')
  );
}

/** Reads the post by itself, and says what is missing of what was asked for. */
async function readAlone(
  client: FxTwitterClient,
  { post, thread, replies }: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const { status } = await client.readStatus(post.id, context);
  const missing = [
    ...(thread ? (['thread'] as const) : []),
    ...(replies === 'off' ? [] : (['replies'] as const)),
  ];
  const warnings = missing.map((part) => (part === 'thread' ? noThread : noReplies));
  return { focal: shapeStatus(status), line: noLine, replies: [], missing, warnings };
}

/** The thread that comes with the replies is not wanted here. */
async function readReplies(
  client: FxTwitterClient,
  query: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const { status, replies } = await readConversation(client, query, context);
  return { focal: shapeStatus(status), line: noLine, ...(await shapeReplies(replies, context)) };
}

function readConversation(
  client: FxTwitterClient,
  { post, replies }: PostQuery,
  context: RequestContext,
): Promise<PostAnswer> {
  const place = { mode: toRankingMode(replies), cursor: null };
  return client.readConversation(post.id, place, context);
}

/** Returns what X calls an order of replies. */
export function toRankingMode(order: PostQuery['replies']): RankingMode {
  return order === 'recent' ? 'recency' : 'likes';
}

/**
 * Asks for both at once. The thread decides; where it gives no verdict, the conversation does, since
 * an outage of one call looks like a missing post.
 */
async function readThreadAndReplies(
  client: FxTwitterClient,
  query: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  try {
    const pending = settle(readConversation(client, query, { ...context, signal }));
    const thread = await settle(client.readThread(query.post.id, context));
    if (!thread.ok && isVerdict(thread.error)) throw thread.error;
    return await combine(client, { thread, conversation: await pending, context });
  } finally {
    stop.abort();
  }
}

/** Tells whether a failure says something of the post itself, or forbids to go on asking. */
function isVerdict(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return true;
  return error.kind === 'missing' || error.kind === 'throttled';
}

function isMissing(error: unknown): boolean {
  return error instanceof ProviderError && error.kind === 'missing';
}

interface BothAnswers {
  readonly thread: Settled;
  readonly conversation: Settled;
  readonly context: ProviderContext;
}

async function combine(client: FxTwitterClient, both: BothAnswers): Promise<Parts> {
  const { thread, conversation, context } = both;
  if (conversation.ok) return combineWith(client, conversation.answer, both);
  tellThrottled(context, conversation.error);
  if (!thread.ok) throw isMissing(conversation.error) ? conversation.error : thread.error;
  const parts = await withThread(client, thread.answer, context);
  return {
    ...parts,
    missing: [...parts.missing, 'replies'],
    warnings: [...parts.warnings, noReplies],
  };
}

async function combineWith(
  client: FxTwitterClient,
  conversation: PostAnswer,
  { thread, context }: BothAnswers,
): Promise<Parts> {
  const focal = shapeStatus(thread.ok ? thread.answer.status : conversation.status);
  const { replies, missing, warnings } = await shapeReplies(conversation.replies, context);
  const known =
    (thread.ok ? await knownFromThread(focal, thread.answer.thread, context) : null) ??
    (await knownFromConversation(focal, { ...conversation, replies }, context)) ??
    (await walkParents(client, focal, context));
  return {
    focal,
    line: known.line,
    replies,
    missing: [...known.missing, ...missing],
    warnings: [...known.warnings, ...warnings],
  };
}

async function withThread(
  client: FxTwitterClient,
  answer: PostAnswer,
  context: ProviderContext,
): Promise<Parts> {
  const focal = shapeStatus(answer.status);
  const known =
    (await knownFromThread(focal, answer.thread, context)) ??
    (await walkParents(client, focal, context));
  return { ...known, focal, replies: [] };
}

async function shapeReplies(
  rows: Rows<PostPayload> | null,
  sliced: Sliced,
): Promise<Omit<Parts, 'focal' | 'line'>> {
  if (rows === null) return { replies: [], missing: ['replies'], warnings: [noReplies] };
  const replies = await mapInSlices(rows.rows, shapePost, sliced);
  return { replies, missing: [], warnings: tellUnread(rows, 'post') };
}

type Settled =
  | { readonly ok: true; readonly answer: PostAnswer }
  | { readonly ok: false; readonly error: unknown };

/** Turns a rejection into a value, so that a call which nobody waits for any more is not unhandled. */
async function settle(call: Promise<PostAnswer>): Promise<Settled> {
  try {
    return { ok: true, answer: await call };
  } catch (error) {
    return { ok: false, error };
  }
}
