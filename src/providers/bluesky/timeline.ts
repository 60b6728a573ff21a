import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Status } from '../../model/post.ts';
import type { TimelineQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, parseRows, type Rows } from '../rows.ts';
import { shapeAccount } from './account.ts';
import { type Body, Refusal } from './client.ts';
import { judgeAccount, judgePost, refuseAccount } from './labels.ts';
import { tellPostsLeftOut } from './left-out.ts';
import { type ActorPayload, type FeedRow, parseFeedRow, parsePost } from './payload.ts';
import { explainAbsence } from './profile.ts';
import { nextCursor, type Reading, uniqueBy, wholeLimit, writeLimit } from './reading.ts';
import { shapePost } from './shape.ts';

/**
 * Makes the read of a page of a timeline. The first page of a read with `untilSeconds` is asked for by
 * a made-up cursor, so that what is newer need not be walked through; where Bluesky does not take that,
 * by the plain first page.
 */
export function askTimeline(reading: Reading): Ask<'timeline'> {
  return async (query, context) => {
    const page = await readPage(reading, query, context);
    const { rows, cursor } = page;
    const owner = ownerOf(rows);
    if (owner !== null) admit(reading, query, owner);
    else if (query.cursor === null && cursor === null) {
      await explainAbsence(reading, query.account, context);
    }
    const picked = pickRows(rows, query);
    const { shown, warnings } = await showRows(picked, {
      ...page,
      nowMs: reading.clock.now(),
      endSlice: context.endSlice,
    });
    const items = shown.filter(({ media }) => query.onlyMedia !== true || media.all.length > 0);
    return { items, cursor, rows: countSent(page), warnings };
  };
}

interface FeedPage extends Rows<FeedRow> {
  readonly cursor: string | null;
}

async function readPage(
  reading: Reading,
  query: TimelineQuery,
  context: ProviderContext,
): Promise<FeedPage> {
  const jump = toJump(query, reading.clock.now());
  if (jump !== null) {
    const page = await readJumped(reading, { ...query, cursor: jump }, context);
    if (page !== null) return page;
  }
  try {
    return await toPage(await readFeed(reading, query, context), query.cursor, context);
  } catch (error) {
    if (isMissing(error)) await explainAbsence(reading, query.account, context);
    throw error;
  }
}

/** Cursors of a timeline are the time of its last row, and the next page is what is before it. */
function toJump({ cursor, untilSeconds }: TimelineQuery, nowMs: number): string | null {
  if (cursor !== null || untilSeconds === null || untilSeconds * 1000 >= nowMs) return null;
  return new Date(untilSeconds * 1000).toISOString();
}

/** A repost stands where it was made, and tells only when it was seen, which is a little later. */
const indexingMs = 3_600_000;

/** Gives the page after a made-up cursor; null where the answer does not show that it was understood. */
async function readJumped(
  reading: Reading,
  query: TimelineQuery,
  context: ProviderContext,
): Promise<FeedPage | null> {
  try {
    const page = await toPage(await readFeed(reading, query, context), query.cursor, context);
    const untilMs = (query.untilSeconds ?? 0) * 1000 + indexingMs;
    const isBefore = page.rows.every((row) => sortedMs(row) < untilMs);
    return page.rows.length > 0 && isBefore ? page : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    if (isMissing(error)) await explainAbsence(reading, query.account, context);
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof ProviderError && error.kind === 'missing';
}

/** Of what is left out here as many rows are asked for as there can be. */
function readFeed(
  { client, known }: Reading,
  query: TimelineQuery,
  context: ProviderContext,
): Promise<Body> {
  const { account, count, cursor, withReposts } = query;
  const parameters = {
    actor: known.actorFor(account.handle),
    limit: withReposts ? writeLimit(count) : wholeLimit,
    filter: filterOf(query),
    cursor,
  };
  return client.query('app.bsky.feed.getAuthorFeed', parameters, context);
}

function filterOf({ withReplies, onlyMedia = false }: TimelineQuery): string {
  if (onlyMedia) return 'posts_with_media';
  return withReplies ? 'posts_with_replies' : 'posts_and_author_threads';
}

async function toPage(body: Body, sent: string | null, sliced: Sliced): Promise<FeedPage> {
  const found = await parseRows(body.feed, parseFeedRow, sliced);
  if (found === null) throw createMalformed();
  return { ...found, cursor: nextCursor(body.cursor, sent) };
}

/** Every row is by the account, or passed on by it, so any row tells whose timeline this is. */
function ownerOf(rows: readonly FeedRow[]): ActorPayload | null {
  const [first] = rows;
  return first === undefined ? null : (first.repost?.by ?? first.post.author);
}

function admit({ known, clock }: Reading, { account }: TimelineQuery, owner: ActorPayload): void {
  const withheld = judgeAccount(owner, clock.now());
  if (withheld !== null) throw refuseAccount(withheld);
  known.note(account.handle, owner);
}

/** When a row came into the timeline. */
function sortedMs({ post, repost }: FeedRow): number {
  return repost?.ms ?? post.createdMs;
}

/** Each post once: an account may pass on what it wrote. */
function pickRows(rows: readonly FeedRow[], query: TimelineQuery): readonly FeedRow[] {
  const { untilSeconds, withReplies, withReposts } = query;
  const wanted = rows.filter((row) => {
    if (row.isPin || (row.repost !== null && !withReposts)) return false;
    if (untilSeconds !== null && sortedMs(row) >= untilSeconds * 1000) return false;
    return withReplies || row.repost !== null || !answersAnother(row);
  });
  return uniqueBy(wanted, ({ post }) => post.uri.uri);
}

function answersAnother({ post }: FeedRow): boolean {
  const parent = post.record.reply?.parent.uri ?? null;
  return parent !== null && parent.did !== post.author.did;
}

interface Showing extends Sliced, Pick<FeedPage, 'unreadable' | 'beyond'> {
  readonly nowMs: number;
}

async function showRows(
  rows: readonly FeedRow[],
  { unreadable, beyond, nowMs, endSlice }: Showing,
) {
  const shaped = await mapInSlices(rows, (row) => shapeRow(row, nowMs), { endSlice });
  const shown = shaped.filter((row) => row !== null);
  const privates = rows.filter(({ post }) => judgePost(post, nowMs).withheld === 'signed-in');
  const moderated = rows.length - shown.length - privates.length;
  const left = { private: privates.length, moderated, unreadable, beyond };
  return { shown, warnings: tellPostsLeftOut(left) };
}

/** A tombstone has no place in a list. */
function shapeRow(row: FeedRow, nowMs: number): Status | null {
  const parentAuthor = parsePost(row.reply?.parent)?.author ?? null;
  const post = shapePost(row.post, { nowMs, parentAuthor });
  if (post.type === 'tombstone') return null;
  return { ...post, reposted_by: row.repost === null ? null : shapeAccount(row.repost.by) };
}
