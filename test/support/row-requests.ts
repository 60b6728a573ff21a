import type { LightMyRequestResponse } from 'fastify';
import { isHistoryRoute, type Route, routes } from '../../src/routes/reads/routes.ts';

/** Request to a route that the sample answers. */
export interface RowRequest {
  readonly row: Route;
  /** Path of the route, with the resource if the route has several. */
  readonly name: string;
  /** Path and query that get a 200 response. Further parameters can be appended with `&`. */
  readonly url: string;
  /** Path and query that get a 404 response; `null` if the route cannot return 404. */
  readonly missingUrl: string | null;
}

interface Subject {
  readonly handle: string;
  readonly id: string;
}

const present: Subject = { handle: 'ada.example', id: '1900000000000000001' };
const absent: Subject = { handle: 'nobody.example', id: '1900000000000000999' };

/** Paths of the browse surface, listed independently of the route table in `src`. */
const browsePath =
  /^\/(?:api\/v1\/search|api\/v1\/profiles\/.+|search|\{handle\}(?:\/follow(?:ers|ing))?|api\/browse)$/;

/** Routes with cacheable responses. Histories have no entity tag and are not cached. */
const requests = routes.filter((row) => !isHistoryRoute(row)).flatMap(toRequests);

/** Request for each route of the browse surface, and for each resource of `/api/browse`. */
export const browseRequests: readonly RowRequest[] = requests.filter(isOfBrowse);

/** Request for each other route: posts and oEmbed. */
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

/** Fills in the parameters of all routes. Routes ignore unknown parameters. */
function fill({ path }: Route, { handle, id }: Subject, resource?: string): string {
  const filled = path.replace('{handle}', handle).replace('{id}', id).replace('{n}', '1');
  const post = encodeURIComponent(`http://localhost:8080/${handle}/status/${id}`);
  const choice = resource === undefined ? '' : `&resource=${resource}`;
  const named = resource === undefined && !path.endsWith('/replies') ? '' : `&handle=${handle}`;
  return `${filled}?url=${post}&q=heron&platform=archive${choice}${named}`;
}

/** Headers that differ between any two responses: request id and time. */
const ofOneReply = ['x-request-id', 'date'];

/** Returns the headers of a response without those that differ between responses, and without the named ones. */
export function headersOf(
  { headers }: Pick<LightMyRequestResponse, 'headers'>,
  ...without: readonly string[]
): Readonly<Record<string, unknown>> {
  const left = new Set([...ofOneReply, ...without]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}
