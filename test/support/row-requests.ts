import type { LightMyRequestResponse } from 'fastify';
import { isHistoryRoute, type Route, routes } from '../../src/http/reads/routes.ts';

/** A request to a row of the route table, by what the sample answers. */
export interface RowRequest {
  readonly row: Route;
  /** The path of the row, and the resource where the row has several. */
  readonly name: string;
  /** A path and query that are answered with 200; more parameters can be added with `&`. */
  readonly url: string;
  /** The same for something that is not there, answered with 404; null where nothing can be missing. */
  readonly missingUrl: string | null;
}

interface Subject {
  readonly handle: string;
  readonly id: string;
}

const present: Subject = { handle: 'ada.example', id: '1900000000000000001' };
const absent: Subject = { handle: 'nobody.example', id: '1900000000000000999' };

/** Paths of the browse surface, listed here so that no table of the sources decides. */
const browsePath =
  /^\/(?:api\/v1\/search|api\/v1\/profiles\/.+|search|\{handle\}(?:\/follow(?:ers|ing))?|api\/browse)$/;

/** Those that are answered as a whole; a history has no entity tag and is kept by nobody. */
const requests = routes.filter((row) => !isHistoryRoute(row)).flatMap(toRequests);

/** A request for each row of the browse surface, and for each resource of `/api/browse`. */
export const browseRequests: readonly RowRequest[] = requests.filter(isOfBrowse);

/** A request for each other row: posts and oEmbed. */
export const postRequests: readonly RowRequest[] = requests.filter((one) => !isOfBrowse(one));

function isOfBrowse({ row }: RowRequest): boolean {
  return browsePath.test(row.path);
}

function toRequests(row: Route): readonly RowRequest[] {
  if (typeof row.read === 'string') return [toRequest(row)];
  return Object.keys(row.read.reads).map((resource) => toRequest(row, resource));
}

function toRequest(row: Route, resource?: string): RowRequest {
  const canMiss = resource !== 'search' && !row.path.endsWith('/search');
  return {
    row,
    name: resource === undefined ? row.path : `${row.path} of ${resource}`,
    url: fill(row, present, resource),
    missingUrl: canMiss ? fill(row, absent, resource) : null,
  };
}

/** Rows ignore the parameters that they do not know, so each gets what any of them needs. */
function fill({ path }: Route, { handle, id }: Subject, resource?: string): string {
  const filled = path.replace('{handle}', handle).replace('{id}', id).replace('{n}', '1');
  const post = encodeURIComponent(`http://localhost:8080/${handle}/status/${id}`);
  const choice = resource === undefined ? '' : `&resource=${resource}`;
  const named = resource === undefined && !path.endsWith('/replies') ? '' : `&handle=${handle}`;
  return `${filled}?url=${post}&q=heron&platform=archive${choice}${named}`;
}

/** What differs between any two replies: the request's own id, and the time. */
const ofOneReply = ['x-request-id', 'date'];

/** Gives the headers of a reply without those that say something of this one reply, and the named ones. */
export function headersOf(
  { headers }: Pick<LightMyRequestResponse, 'headers'>,
  ...without: readonly string[]
): Readonly<Record<string, unknown>> {
  const left = new Set([...ofOneReply, ...without]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}
