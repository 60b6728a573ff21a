import type { RequestContext } from '../../../core/http/http-client.ts';
import type { Page } from '../../../model/queries.ts';
import { countSent, parseRows, type Rows } from '../../rows.ts';
import { readBody, type Upstream } from '../../upstream.ts';
import { readCursor, toAnswerFailure, trueStatus } from '../client.ts';

/** One page of a list as it came; `cursor` is `null` where the service names no next page. */
export interface ListPage<Row> extends Rows<Row> {
  readonly is: 'page';
  readonly cursor: string | null;
}

/**
 * `absent`: a 404, for an account that is unknown, suspended or out of reach and for a search in an
 * outage.
 * `refused`: a 400, for a parameter.
 */
export type ListAnswer<Row> =
  | ListPage<Row>
  | { readonly is: 'absent' }
  | { readonly is: 'refused' };

/** What is asked for, and how its rows are read. */
export interface ListRequest<Row> {
  /** Begins with a slash. */
  readonly path: string;
  /** The parameters; `null` leaves one out. */
  readonly parameters: Readonly<Record<string, string | null>>;
  /** Where in the body the rows are; default: `results`. */
  readonly field?: 'users';
  readonly parseRow: (row: unknown) => Row | null;
}

/** Asks for a page of a list. Throws ProviderError `throttled`, `unavailable` or `malformed`. */
export async function readList<Row>(
  upstream: Upstream,
  { path, parameters, field, parseRow }: ListRequest<Row>,
  context: RequestContext,
): Promise<ListAnswer<Row>> {
  const answer = await upstream(`${path}?${writeParameters(parameters)}`, context);
  const body = readBody(answer);
  const rows = await parseRows(body?.[field ?? 'results'], parseRow, context);
  const status = trueStatus(answer, body);
  if (status === 400 && body !== null) return { is: 'refused' };
  if (status === 404 && rows !== null) return { is: 'absent' };
  if (status !== 200 || rows === null) throw toAnswerFailure(answer, body);
  return { is: 'page', ...rows, cursor: readCursor(body) };
}

/** A surrogate without its other half cannot be sent; U+FFFD stands for it, as in `TextEncoder`. */
function writeParameters(parameters: ListRequest<unknown>['parameters']): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'))}`],
    )
    .join('&');
}

/** Maximum number of rows that can be asked for at once. */
export const maxCount = 100;

/** Returns a `count` that the service accepts: 20 (a page of its own choice is not smaller) to 100. */
export function writeCount(count: number): string {
  return String(Math.min(Math.max(Math.trunc(count), 20), maxCount));
}

/** Returns where the list goes on; `null` at the end, for which X may repeat the cursor that was sent. */
export function nextCursor(page: ListPage<unknown>, sent: string | null): string | null {
  return page.cursor === sent ? null : page.cursor;
}

/** Where a list goes on after a page; `null` at its end. */
export interface Onward {
  readonly cursor: string | null;
  /** Whether there may be more all the same; default: whether there is a cursor. */
  readonly mayGoOn?: boolean;
}

/** Fewer rows than these come now and then in place of a full page. */
const fewRows = 2;

/** Returns the members of a page beside its items. */
export function toPaging(
  page: ListPage<unknown>,
  { cursor, mayGoOn = cursor !== null }: Onward,
): Pick<Page<unknown>, 'cursor' | 'rows' | 'isDoubtful'> {
  // What the service sent, because a page of which no row is wanted is not a short one.
  const rows = countSent(page);
  return { cursor, rows, ...(mayGoOn && rows < fewRows && { isDoubtful: true }) };
}
