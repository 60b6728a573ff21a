import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FakeInternet, openFakeInternet, siteAddresses } from './fake-internet.ts';
import type { FakeHandler } from './fake-upstream.ts';

/** Post of the simulated fediverse. Number 0 is the first post of the thread. */
export interface SimulatedNote {
  readonly number: number;
  readonly host: string;
  readonly url: string;
  readonly parent: number | null;
}

export interface Fediverse {
  readonly network: FakeInternet;
  readonly notes: readonly SimulatedNote[];
  /** Number of requests to each host. */
  readonly requests: ReadonlyMap<string, number>;
}

const pageSize = 5;
const startMs = Date.UTC(2026, 10, 1);
const activityType = 'application/activity+json; charset=utf-8';

/**
 * Opens a fediverse on loopback in which `count` replies are spread over `hosts` servers, each of
 * which knows only its own posts and the direct replies to them. `hostile`: handlers of other
 * hosts, whose posts at `/objects/evil` are replies to the first post.
 */
export async function openFediverse(options: {
  readonly hosts: number;
  readonly count: number;
  readonly hostile?: Readonly<Record<string, FakeHandler>>;
}): Promise<Fediverse> {
  const { hosts, count, hostile = {} } = options;
  const names = Array.from({ length: hosts }, (_, nth) => `sea-${nth}.example.org`);
  const notes = Array.from({ length: count + 1 }, (_, number): SimulatedNote => {
    const host = names[(number * 7) % hosts] ?? '';
    const parent = number === 0 ? null : number <= 20 ? 0 : Math.floor((number - 1) / 4);
    return { number, host, url: `https://${host}/objects/${number}`, parent };
  });
  const requests = new Map<string, number>();
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    const host = request.headers.host ?? '';
    requests.set(host, (requests.get(host) ?? 0) + 1);
    const other = hostile[host];
    if (other !== undefined) {
      other(request, response);
      return;
    }
    const body = answer(host, request.url ?? '', notes, Object.keys(hostile));
    if (body === null) response.writeHead(404, { 'content-type': 'text/html' }).end('Not found');
    else response.writeHead(200, { 'content-type': activityType }).end(JSON.stringify(body));
  };
  const all = [...names, ...Object.keys(hostile)];
  const network = await openFakeInternet(
    Object.fromEntries(all.map((name) => [name, [siteAddresses[0]]])),
    handler,
  );
  return { network, notes, requests };
}

function answer(
  host: string,
  path: string,
  notes: readonly SimulatedNote[],
  hostile: readonly string[],
): object | null {
  const [, kind, id = '', part, page] =
    /^\/(objects|users)\/([\w-]+)(\/replies)?(?:\?page=(\d+))?$/.exec(path) ?? [];
  if (kind === 'users') return toActor(host, id);
  const note = notes[Number(id)];
  if (note === undefined || note.host !== host) return null;
  return part === undefined ? toNote(note, notes) : toReplies(note, notes, hostile, page);
}

export const publicAudience = 'https://www.w3.org/ns/activitystreams#Public';

function toNote({ number, host, url, parent }: SimulatedNote, notes: readonly SimulatedNote[]) {
  return {
    '@context': 'https://www.w3.org/ns/activitystreams',
    id: url,
    type: 'Note',
    attributedTo: `https://${host}/users/writer-${number % 3}`,
    content: `<p>Post ${number}</p>`,
    published: new Date(startMs + number * 60_000).toISOString(),
    to: [publicAudience],
    inReplyTo: parent === null ? null : notes[parent]?.url,
    replies: `${url}/replies`,
  };
}

function toReplies(
  { number, url }: SimulatedNote,
  notes: readonly SimulatedNote[],
  hostile: readonly string[],
  page: string | undefined,
): object {
  const direct = notes.filter(({ parent }) => parent === number).map((note) => note.url);
  const evil = number === 0 ? hostile.map((name) => `https://${name}/objects/evil`) : [];
  const all = [...evil, ...direct];
  const id = `${url}/replies`;
  if (page === undefined) {
    return { id, type: 'Collection', totalItems: all.length, first: `${id}?page=1` };
  }
  const nth = Number(page);
  const hasNext = all.length > nth * pageSize;
  return {
    id: `${id}?page=${page}`,
    type: 'CollectionPage',
    partOf: id,
    items: all.slice((nth - 1) * pageSize, nth * pageSize),
    ...(hasNext && { next: `${id}?page=${nth + 1}` }),
  };
}

/** Actor as the servers of the simulation describe it. */
export function toActor(host: string, name: string): object {
  const id = `https://${host}/users/${name}`;
  return {
    '@context': 'https://www.w3.org/ns/activitystreams',
    ...{ id, type: 'Person', preferredUsername: name, name: `Writer ${name}` },
    ...{ inbox: `${id}/inbox`, outbox: `${id}/outbox`, url: id },
  };
}
