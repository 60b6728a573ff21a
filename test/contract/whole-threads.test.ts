import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import type { FakeHandler } from '../support/fake-upstream.ts';
import { type Fediverse, openFediverse, publicAudience, toActor } from '../support/fediverse.ts';
import { accountRow, statusRow } from '../support/mastodon-payloads.ts';

interface Whole {
  readonly posts: readonly {
    readonly id: string;
    readonly context: string;
    readonly author: { readonly screen_name: string };
    readonly replying_to: { readonly status: string } | null;
  }[];
  readonly warnings?: readonly string[];
}

async function openReader(fediverse: Fediverse, env: Record<string, string> = {}) {
  const app = await buildTestApp({
    network: fediverse.network,
    // Long, so that a busy machine reads everything too.
    env: { PERCH_PROVIDERS: 'mastodon,activitypub', PERCH_READ_TIMEOUT_MS: '120000', ...env },
  });
  const readUrl = async (address: string, query = ''): Promise<Whole> => {
    const reply = await app.server.inject({
      url: `/api/v1/posts?url=${encodeURIComponent(address)}&thread=whole&format=json${query}`,
    });
    expect(reply.statusCode, reply.body.slice(0, 500)).toBe(200);
    return reply.json<Whole>();
  };
  const readWhole = (number = 0, query = '') => readUrl(fediverse.notes[number]?.url ?? '', query);
  return { readUrl, readWhole };
}

const idsOf = ({ posts }: Whole) => posts.map(({ id }) => id);
const countRequests = ({ requests }: Fediverse) =>
  [...requests.values()].reduce((sum, count) => sum + count, 0);

describe('a thread of 400 replies on 30 servers', () => {
  it('is read whole, each reply below the post that it answers', async () => {
    const fediverse = await openFediverse({ hosts: 30, count: 400 });
    const { readWhole } = await openReader(fediverse);

    const found = await readWhole();

    expect(idsOf(found).toSorted()).toEqual(fediverse.notes.map(({ url }) => url).toSorted());
    expect(found.warnings ?? []).toEqual([]);
    const places = new Map(idsOf(found).map((id, place) => [id, place]));
    for (const { id, replying_to } of found.posts.slice(1)) {
      expect(places.get(replying_to?.status ?? '')).toBeLessThan(places.get(id) ?? 0);
    }
    expect(Math.max(...fediverse.requests.values())).toBeLessThan(60);
  });

  it('shows the posts above a reply, from their own servers', async () => {
    const fediverse = await openFediverse({ hosts: 30, count: 400 });
    const { readWhole } = await openReader(fediverse);
    const above = [];
    for (let at = 399; at !== 0; at = fediverse.notes[at]?.parent ?? 0) above.unshift(at);

    const { posts } = await readWhole(399);

    const parents = posts.filter(({ context }) => context === 'parent').map(({ id }) => id);
    const expected = [0, ...above.slice(0, -1)].map((number) => fediverse.notes[number]?.url);
    expect(parents).toEqual(expected);
  });

  it('is read again with requests for the lists of replies only', async () => {
    const fediverse = await openFediverse({ hosts: 30, count: 400 });
    const { readWhole } = await openReader(fediverse);
    const first = await readWhole();
    const requestsOfFirst = countRequests(fediverse);

    const again = await readWhole(0, '&nocache=true');

    expect(idsOf(again)).toEqual(idsOf(first));
    // Without the 400 replies and their authors, but with the first post.
    expect(countRequests(fediverse) - requestsOfFirst).toBeLessThan(requestsOfFirst - 400);
  });
});

const send = (response: Parameters<FakeHandler>[1], body: unknown) => {
  response.writeHead(200, { 'content-type': 'application/activity+json' });
  response.end(JSON.stringify(body));
};

const serveReply =
  (host: string, members: object, others?: FakeHandler): FakeHandler =>
  (request, response) => {
    const [, user] = /^\/users\/([\w-]+)$/.exec(request.url ?? '') ?? [];
    if (user !== undefined) return send(response, toActor(host, user));
    if (request.url !== '/objects/evil' && others !== undefined) return others(request, response);
    send(response, {
      ...{ id: `https://${host}/objects/evil`, type: 'Note', to: [publicAudience] },
      ...{ attributedTo: `https://${host}/users/eve`, content: '<p>Evil</p>' },
      ...{ published: '2026-11-01T12:00:00Z', inReplyTo: 'https://sea-0.example.org/objects/0' },
      ...members,
    });
  };

const host = 'evil.example.org';
const own = `https://${host}/objects`;

/** Lists new replies on each of endless pages. */
const serveEndless: FakeHandler = (request, response) => {
  const { url = '' } = request;
  const [, page = '0'] = /^\/objects\/evil\/replies\?page=(\d+)$/.exec(url) ?? [];
  const items = Array.from({ length: 40 }, (_, nth) => ({
    ...{ id: `${own}/${page}-${nth}`, type: 'Note', to: [publicAudience] },
    ...{ attributedTo: `https://${host}/users/eve`, content: '<p>More</p>' },
    ...{ published: '2026-11-01T12:00:00Z', inReplyTo: `${own}/evil` },
  }));
  const next = `${own}/evil/replies?page=${Number(page) + 1}`;
  send(response, { id: `https://${host}${url}`, type: 'CollectionPage', items, next });
};

const hostiles: readonly (readonly [string, FakeHandler, { readonly isShown?: boolean }])[] = [
  [
    'lists replies without end',
    serveReply(host, { replies: `${own}/evil/replies` }, serveEndless),
    { isShown: true },
  ],
  [
    'lists the posts of others as replies in a loop',
    serveReply(host, {
      replies: {
        type: 'Collection',
        items: [`${own}/evil`, 'https://sea-0.example.org/objects/0'],
      },
    }),
    { isShown: true },
  ],
  ['answers its own post', serveReply(host, { inReplyTo: `${own}/evil` }), {}],
  [
    'writes in the name of another server',
    serveReply(host, { attributedTo: 'https://sea-1.example.org/users/writer-1' }),
    {},
  ],
  [
    'sends the post of another server',
    serveReply(host, { id: 'https://sea-1.example.org/objects/evil' }),
    {},
  ],
  [
    'contains posts of other servers',
    serveReply(host, {
      replies: {
        type: 'Collection',
        items: [
          {
            id: 'https://sea-1.example.org/objects/forged',
            type: 'Note',
            to: [publicAudience],
            content: '<p>Forged</p>',
            published: '2026-11-01T12:00:00Z',
            attributedTo: 'https://sea-1.example.org/users/writer-1',
            inReplyTo: `${own}/evil`,
          },
        ],
      },
    }),
    { isShown: true },
  ],
  ['sends 10 MB', serveReply(host, { content: 'x'.repeat(10_000_000) }), {}],
  [
    'sends another media type',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    },
    {},
  ],
  [
    'redirects into the private network',
    (_, response) => {
      response.writeHead(302, { location: 'https://127.0.0.1/objects/evil' }).end();
    },
    {},
  ],
  [
    'redirects to another scheme',
    (_, response) => {
      response.writeHead(302, { location: 'http://sea-1.example.org/objects/1' }).end();
    },
    {},
  ],
  [
    'closes the connection',
    (request) => {
      request.socket.destroy();
    },
    {},
  ],
];

describe('a hostile server that took part in a thread', () => {
  it.each(hostiles)('changes nothing for the others if it %s', async (_, handler, { isShown }) => {
    const fediverse = await openFediverse({ hosts: 30, count: 90, hostile: { [host]: handler } });
    const { readWhole } = await openReader(fediverse);

    const found = await readWhole();

    const ids = idsOf(found);
    const honest = fediverse.notes.map(({ url }) => url);
    expect(ids.filter((id) => !id.startsWith(`${own}/`)).toSorted()).toEqual(honest.toSorted());
    expect(ids.includes(`${own}/evil`)).toBe(isShown === true);
    for (const { id, author } of found.posts) {
      expect(author.screen_name.endsWith(`@${new URL(id).host}`)).toBe(true);
    }
    expect(fediverse.requests.get(host)).toBeLessThan(210);
    expect(fediverse.network.trap.connections).toBe(0);
  });

  it('is named in the one warning if it never ends an answer, and the others are read', async () => {
    const drip: FakeHandler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/activity+json' });
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    };
    const fediverse = await openFediverse({ hosts: 30, count: 100, hostile: { [host]: drip } });
    const { readWhole } = await openReader(fediverse, { PERCH_ATTEMPT_TIMEOUT_MS: '3000' });

    const found = await readWhole();

    expect(idsOf(found)).toHaveLength(101);
    expect(found.warnings).toEqual([expect.stringContaining(`: ${host}.`)]);
  });
});

describe('a thread that began on a Mastodon server', () => {
  const masto = 'masto.example.org';
  const noteId = `https://${masto}/users/ada/statuses/7`;
  const parts: Readonly<Record<string, object>> = {
    '/users/ada': toActor(masto, 'ada'),
    '/users/ada/statuses/7': {
      ...{ id: noteId, type: 'Note', to: [publicAudience], content: '<p>Hello</p>' },
      ...{ attributedTo: `https://${masto}/users/ada`, published: '2026-11-01T12:00:00Z' },
      replies: {
        ...{ id: `${noteId}/replies`, type: 'Collection' },
        first: { type: 'CollectionPage', items: [], next: `${noteId}/replies?page=true` },
      },
    },
    '/users/ada/statuses/7/replies?page=true': {
      ...{ id: `${noteId}/replies?page=true`, type: 'CollectionPage' },
      items: [`https://${host}/objects/evil`],
    },
  };
  const serveMastodon =
    (objects: typeof parts): FakeHandler =>
    ({ url = '' }, response) => {
      const part = objects[url];
      if (part !== undefined) return send(response, part);
      const isApi = url.startsWith('/api/v1/statuses/7');
      const body = isApi ? toStatusOf(url) : { error: 'This needs a signature' };
      response.writeHead(isApi ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
  const toStatusOf = (url: string) =>
    url.endsWith('/context')
      ? { ancestors: [], descendants: [] }
      : statusRow('7', accountRow('ada', { url: `https://${masto}/@ada` }), {
          url: `https://${masto}/@ada/7`,
        });

  it('is read from the servers that took part, though its server has an API', async () => {
    const reply = serveReply(host, { inReplyTo: noteId });
    const hostile = { [masto]: serveMastodon(parts), [host]: reply };
    const fediverse = await openFediverse({ hosts: 1, count: 0, hostile });
    const { readUrl } = await openReader(fediverse);

    const found = await readUrl(`https://${masto}/@ada/7`);

    expect(idsOf(found)).toEqual([noteId, `https://${host}/objects/evil`]);
  });

  it('is what its server has if the server refuses ActivityPub, and a warning says so', async () => {
    const fediverse = await openFediverse({
      ...{ hosts: 1, count: 0 },
      hostile: { [masto]: serveMastodon({}) },
    });
    const { readUrl } = await openReader(fediverse);

    const found = await readUrl(`https://${masto}/@ada/7`);

    expect(idsOf(found)).toEqual(['7']);
    expect(found.warnings).toContainEqual(
      expect.stringContaining(`These are the posts that ${masto} has.`),
    );
  });
});
