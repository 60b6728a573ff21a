import { ResponseError } from './errors.ts';
import type { BrowseReply } from './generated.ts';
import type { CallOptions } from './options.ts';
import type { Query, Read, Reader } from './reads.ts';

/** Page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; `undefined` on the last page. Pass it as `cursor` to continue the list later. */
  readonly nextCursor: string | undefined;
  /** Whole response of the server. */
  readonly reply: BrowseReply;
}

/** List of posts or accounts. The client requests the next page when the iteration reaches it. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Iterates over the pages of the list. @throws PerchError */
  pages(): AsyncIterable<Page<Item>>;
}

/** Maximum number of cursors to remember. The iteration fails if the server sends a remembered cursor again. */
const maxCursors = 10_000;

/** Creates a list that requests its pages one after another. `pick` returns the items of a response. */
export function createList<Item>(
  reader: Reader,
  { read, pick, call }: ListOptions<Item>,
): List<Item> {
  async function* pages(): AsyncGenerator<Page<Item>> {
    const guardCursor = createCursorGuard(read.query.cursor);
    for (let query: Query | null = read.query; query !== null; ) {
      const reply: BrowseReply = await reader.read({ ...read, query }, call);
      const { nextCursor } = reply;
      yield { items: pick(reply) ?? [], nextCursor, reply };
      guardCursor(nextCursor);
      query = toNextQuery(query, nextCursor);
    }
  }
  async function* items(): AsyncGenerator<Item> {
    for await (const page of pages()) yield* page.items;
  }
  return { pages, [Symbol.asyncIterator]: items };
}

/** Returns the query of the next page; `null` after the last page. */
function toNextQuery(query: Query, cursor: string | undefined): Query | null {
  if (cursor === undefined) return null;
  const { page: _, ...others } = query; // the cursor replaces the number of the page
  return { ...others, cursor };
}

/**
 * Creates a function that is called with each cursor from the server. It throws a ResponseError if a cursor repeats,
 * because the list would never end. `first`: cursor of the first request, which counts as already received.
 */
function createCursorGuard(first: unknown) {
  const seen = new Set([first]);
  return (cursor: string | undefined): void => {
    if (cursor === undefined) return;
    if (seen.has(cursor)) {
      const fault = 'The server sent the same cursor twice, so the list would never end.';
      throw new ResponseError('repeated_cursor', fault, { status: 200 });
    }
    if (seen.size >= maxCursors) seen.clear();
    seen.add(cursor);
  };
}

interface ListOptions<Item> {
  readonly read: Read;
  readonly pick: (reply: BrowseReply) => readonly Item[] | undefined;
  readonly call: CallOptions | undefined;
}
