import type { RequestContext } from '../../../core/http/http-client.ts';
import type { Page } from '../../../model/queries.ts';
import { countSent, parseRows, type Rows } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { cursors, readBody, toAnswerFailure, trueStatus } from '../body.ts';

/** One page of a list as it came; `cursor` is null where the service names no next page. */
export interface ListPage<Row> extends Rows<Row> {
  readonly is: 'page';
  readonly cursor: string | null;
}

/**
 * What a list endpoint answered. `absent`: a 404, which says the same of an account that is unknown,
 * suspended or out of reach and of a search in an outage (FxTwitter, section 7). `refused`: a 400,
 * for a parameter.
 */
export type ListAnswer<Row> =
  | ListPage<Row>
  | { readonly is: 'absent' }
  | { readonly is: 'refused' };

/** What is asked for, and how its rows are read. */
export interface ListRequest<Row> {
  /** Begins with a slash. */
  readonly path: string;
  /** The parameters; null leaves one out. */
  readonly parameters: Readonly<Record<string, string | null>>;
  /** Where in the body the rows are. */
  readonly field: 'results' | 'users';
  readonly parseRow: (row: unknown) => Row | null;
}

/**
 * Asks for one page of a list.
 *
 * @throws ProviderError `throttled`, `unavailable` or `malformed`
 */
export async function readList<Row>(
  upstream: Upstream,
  request: ListRequest<Row>,
  context: RequestContext,
): Promise<ListAnswer<Row>> {
  const { path, parameters, field, parseRow } = request;
  const answer = await upstream.get(`${path}?${writeParameters(parameters)}`, context);
  const body = readBody(answer);
  const rows = await parseRows(body?.[field], parseRow, context);
  const status = trueStatus(answer, body);
  if (status === 400 && body !== null) return { is: 'refused' };
  if (status === 404 && rows !== null) return { is: 'absent' };
  if (status !== 200 || rows === null) throw toAnswerFailure(answer, body);
  return { is: 'page', ...rows, cursor: cursors.parse(body?.cursor)?.bottom ?? null };
}

/** A surrogate without its other half cannot be sent; U+FFFD stands for it, as in `TextEncoder`. */
function writeParameters(parameters: ListRequest<unknown>['parameters']): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === null ? [] : [`${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'))}`],
    )
    .join('&');
}

/** The most rows that can be asked for at once. */
export const maxCount = 100;

/** Gives a `count` that the service accepts: 20 (a page of its own choice is not smaller) to 100. */
export function writeCount(count: number): string {
  return String(Math.min(Math.max(Math.trunc(count), 20), maxCount));
}

/** Gives where the list goes on; null at the end, which X may tell by the cursor that was sent. */
export function nextCursor(page: ListPage<unknown>, sent: string | null): string | null {
  return page.cursor === sent ? null : page.cursor;
}

/** Where a list goes on after a page; null at its end. */
export interface Onward {
  readonly cursor: string | null;
  /** Whether there may be more all the same; default: whether there is a cursor. */
  readonly mayGoOn?: boolean;
}

/** Fewer rows than these come now and then in place of a full page (FxTwitter, section 6). */
const fewRows = 2;

/** Gives what a page tells beside its items. */
export function toPaging(
  page: ListPage<unknown>,
  { cursor, mayGoOn = cursor !== null }: Onward,
): Pick<Page<unknown>, 'cursor' | 'rows' | 'isDoubtful'> {
  // What the service sent, because a page of which no row is wanted is not a short one.
  const rows = countSent(page);
  return { cursor, rows, ...(mayGoOn && rows < fewRows && { isDoubtful: true }) };
}
