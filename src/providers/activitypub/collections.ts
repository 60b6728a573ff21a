import type { RequestContext } from '../../lib/http/http-client.ts';
import { hostOf, isObject, referencedId, toObjectId } from '../../normalize/activitypub/object.ts';
import { toValues } from '../../normalize/activitypub/wire.ts';
import type { Fetched, Objects } from './fetch-object.ts';

/** Part of a collection. `url` is that of the document that contains the rows. */
export interface Part {
  readonly url: URL;
  readonly rows: readonly unknown[];
  /** Cursor of the next part; `null` at the end. */
  readonly next: string | null;
  /** Number of items in the collection; `null` if the server does not say it. */
  readonly total: number | null;
}

export type ReadPart = (
  /** Address of a collection, or one that another object contains. */
  collection: string | Fetched,
  position: { readonly cursor: string | null; readonly count: number },
  context: RequestContext,
) => Promise<Part>;

/** Cursor: number of rows of a page that were returned, and the address of the page. */
const cursorForm = /^(\d{1,6}) (https:\/\/\S+)$/;

const maxRows = 40; // rows of one part, because each may cost a request

/**
 * Creates a reader of collections, whose pages have any size: it returns parts of a page, and
 * continues exactly there. All pages must be on the host of the collection.
 */
export function createReadPart({ fetchPart }: Objects): ReadPart {
  return async (collection, { cursor, count }, context) => {
    const fetch = (url: string) => fetchPart(url, context);
    const host = typeof collection === 'string' ? hostOf(collection) : collection.url.hostname;
    const { address, taken } = parseCursor(cursor, host);
    const from = address ?? collection;
    const start = typeof from === 'string' ? await fetch(from) : from;
    const page = address === null ? await findFirst(start, fetch) : start;
    const items = listItems(page.body);
    const rows = items.slice(taken, taken + Math.min(count, maxRows));
    const end = taken + rows.length;
    const next = end < items.length ? `${end} ${addressOf(page)}` : nextOf(page);
    return { url: page.url, rows, next, total: totalOf(start.body) ?? totalOf(page.body) };
  };
}

function parseCursor(cursor: string | null, host: string) {
  const [, taken, address] = cursorForm.exec(cursor ?? '') ?? [];
  if (address === undefined || hostOf(address) !== host) return { address: null, taken: 0 };
  return { address, taken: Number(taken) };
}

/** Returns the address of a page, which can be within the document of its collection. */
const addressOf = ({ url, body }: Fetched): string => {
  const id = toObjectId(body.id);
  return id !== null && hostOf(id) === url.hostname ? id : url.href;
};

function nextOf(page: Fetched): string | null {
  const next = referencedId(page.body.next);
  const isFollowed =
    next !== null && hostOf(next) === page.url.hostname && next !== addressOf(page);
  return isFollowed ? `0 ${next}` : null;
}

const listItems = (body: Fetched['body']): readonly unknown[] =>
  toValues(body.orderedItems ?? body.items);

const totalOf = ({ totalItems }: Fetched['body']): number | null =>
  typeof totalItems === 'number' && totalItems >= 0 ? totalItems : null;

async function findFirst(start: Fetched, fetchPage: (url: string) => Promise<Fetched>) {
  const { first } = start.body;
  if (listItems(start.body).length > 0 || first === undefined || first === null) return start;
  if (isObject(first) && (listItems(first).length > 0 || first.next !== undefined)) {
    return { url: start.url, body: first };
  }
  const id = referencedId(first);
  return id === null || hostOf(id) !== start.url.hostname ? start : fetchPage(id);
}
