import { describe, expect, it } from 'vitest';
import {
  actorOf,
  byId,
  type Document,
  type Documents,
  fingerOf,
  type Json,
  noteOf,
  publicly,
  serveDocuments,
} from '../support/activitypub/documents.ts';
import { answerRedirect, type FakeHandler } from '../support/fake-upstream.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';

const host = 'notes.example.org';
const far = 'far.example.net';
const wren = actorOf(host, 'wren');
const kelp = actorOf(far, 'kelp');
const id = `https://${host}/post/1`;
const note = noteOf(wren, id);
const page = 'text/html; charset=utf-8';

type Hosts = Readonly<Record<string, Documents | FakeHandler>>;

async function readFrom(hosts: Hosts, url = id) {
  const handlers = Object.entries(hosts).map(
    ([name, each]) => [name, typeof each === 'function' ? each : serveDocuments(each)] as const,
  );
  const { app, fake } = await buildMastodonApp(Object.fromEntries(handlers));
  const read = () => app.request(`/api/v1/posts?url=${encodeURIComponent(url)}&format=json`);
  return { app, fake, read, reply: await read() };
}

/** Answers for the post with other bytes or another type. */
const asDocument = (document: Partial<Document>): Hosts => ({
  [host]: { ...byId(wren), '/post/1': { body: note, ...document } },
});

const link = (href: string) =>
  `<link rel=alternate type="application/activity+json" href="${href}">`;

describe('a response', () => {
  it.each([
    'application/activity+json',
    'application/activity+json; charset=utf-8',
    'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
    'application/ld+json;profile=https://www.w3.org/ns/activitystreams; charset=utf-8',
  ])('of type %s is believed', async (type) => {
    const { reply } = await readFrom(asDocument({ type }));

    expect([reply.statusCode, reply.json().posts?.[0]?.id]).toEqual([200, id]);
  });

  it.each([
    'application/json',
    'application/ld+json',
    'application/ld+json; profile="https://www.w3.org/ns/json-ld#compacted"',
    'text/plain',
    'text/html',
    'application/octet-stream',
  ])('of type %s is not believed', async (type) => {
    const { reply } = await readFrom(asDocument({ type }));

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'unsupported_host']);
    expect(reply.json().detail).toContain(host);
  });

  it.each([
    ['an id of another host', { ...note, id: `https://${far}/post/1` }, 'no such post'],
    ['no id', { ...note, id: undefined }, 'without a public address'],
    ['a private id', { ...note, id: 'https://127.0.0.1/post/1' }, 'without a public address'],
    ['an author of another host', { ...note, attributedTo: kelp.id }, 'in the name of an account'],
    ['no author', { ...note, attributedTo: undefined }, 'in the name of an account'],
    ['no time', { ...note, published: 'yesterday' }, 'that is no post'],
    ['an unknown type', { ...note, type: 'Tractor' }, 'that is no post'],
  ])('with %s is refused', async (_, body, words) => {
    const { reply } = await readFrom({ ...asDocument({ body }), [far]: byId(kelp) });

    expect(reply.statusCode).toBeGreaterThanOrEqual(400);
    expect(reply.json().detail).toContain(words);
  });

  it('that claims the id of a post on another host shows what that host sends', async () => {
    const original = noteOf(kelp, `https://${far}/post/9`, { content: 'The truth' });
    const forged = { ...original, content: 'A lie' };
    const { reply } = await readFrom({
      ...asDocument({ body: forged }),
      [far]: byId(kelp, original),
    });

    expect(reply.json().posts).toMatchObject([
      { id: original.id, text: 'The truth', author: { screen_name: `kelp@${far}` } },
    ]);
  });

  it('whose author is an account of another host does not get that account', async () => {
    const author = `https://${host}/users/fake`;
    const { reply } = await readFrom({
      [host]: { ...byId({ ...note, attributedTo: author }), '/users/fake': { body: kelp } },
      [far]: byId(kelp),
    });

    expect(reply.json().posts[0].author.screen_name).toBe(`fake@${host}`);
  });

  it.each([
    ['10 MB', 'x'.repeat(10_000_000)],
    ['slow to parse', `[${'[],'.repeat(80_000)}[]]`],
    ['truncated', '{"id": "https://'],
    ['null', 'null'],
  ])('that is %s is an error of the server', async (_, body) => {
    const { reply } = await readFrom(asDocument({ body }));

    expect(reply.statusCode).toBeGreaterThanOrEqual(400);
    expect(['upstream_error', 'unsupported_host']).toContain(reply.json().code);
  });

  it.each([
    [401, 503, 'upstream_unavailable', /without a signature or a login \(status 401\)/],
    [403, 503, 'upstream_unavailable', /without a signature or a login \(status 403\)/],
    [404, 404, 'not_found', /no such post/],
    [410, 404, 'not_found', /deleted/],
    [406, 400, 'unsupported_host', /status 406/],
    [500, 503, 'upstream_unavailable', /failing/],
  ])('with status %i is %i %s', async (status, expected, code, words) => {
    const { reply } = await readFrom(asDocument({ status, type: page, body: 'No' }));

    expect([reply.statusCode, reply.json().code]).toEqual([expected, code]);
    expect(reply.json().detail).toMatch(words);
  });
});

describe('a web page', () => {
  it('is followed to its object once', async () => {
    const pages = {
      '/post/1': { body: link('/b'), type: page },
      '/b': { body: link('/c'), type: page },
    };
    const { reply, fake } = await readFrom({ [host]: pages });

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'unsupported_host']);
    expect(fake.requests.map(({ url }) => url)).toEqual([`/${host}/post/1`, `/${host}/b`]);
  });

  it.each([
    'http://127.0.0.1/secret',
    'https://10.0.0.1/',
    'https://printer.local/a',
    'file:///etc/passwd',
  ])('does not lead to %s', async (href) => {
    const { reply, fake } = await readFrom({
      [host]: { '/post/1': { body: link(href), type: page } },
    });

    expect(reply.statusCode).toBe(503);
    expect(fake.requests).toHaveLength(1);
  });
});

describe('a redirect', () => {
  it.each([
    'http://127.0.0.1/',
    'https://169.254.169.254/latest',
    'http://notes.example.org/post/2',
  ])('to %s is not followed', async (location) => {
    const { reply, fake } = await readFrom({
      [host]: (_, response) => answerRedirect(response, location),
    });

    expect([reply.statusCode, reply.json().code]).toEqual([502, 'upstream_error']);
    expect(fake.requests).toHaveLength(1);
  });

  it('to another public host is followed, and that host vouches for the post', async () => {
    const moved = noteOf(kelp, `https://${far}/post/1`);
    const { reply } = await readFrom({
      [host]: (_, response) => answerRedirect(response, moved.id as string),
      [far]: byId(kelp, moved),
    });

    expect(reply.json().posts).toMatchObject([{ id: moved.id }]);
  });

  it('in a circle ends', async () => {
    const { reply, fake } = await readFrom({
      [host]: (request, response) => answerRedirect(response, `https://${host}${request.url}`),
    });

    expect(reply.statusCode).toBe(400);
    expect(fake.requests).toHaveLength(3);
  });
});

describe('a post that is not for everybody', () => {
  it.each([
    ['followers', { to: [`${wren.id}/followers`], cc: [] }],
    ['one account', { to: [kelp.id], cc: undefined }],
    ['nobody', { to: undefined, cc: undefined }],
  ])('but for %s is not shown', async (_, recipients) => {
    const { reply } = await readFrom({ [host]: byId(wren, { ...note, ...recipients }) });

    expect([reply.statusCode, reply.json().unavailable?.reason]).toEqual([404, 'protected']);
  });

  it.each(['as:Public', 'Public', publicly])('but whose `cc` is %s is shown', async (cc) => {
    const { reply } = await readFrom({ [host]: byId(wren, { ...note, to: [], cc }) });

    expect(reply.statusCode).toBe(200);
  });
});

describe('a deleted post', () => {
  it.each([
    ['a Tombstone', { body: { id, type: 'Tombstone' } }],
    ['status 410', { body: '', type: page, status: 410 }],
  ])('with %s drops what Perch kept of it', async (_, gone) => {
    const documents: Record<string, Document> = { ...byId(wren, note) };
    const { app, reply, read } = await readFrom({
      [host]: (request, response) => serveDocuments(documents)(request, response),
    });
    documents['/post/1'] = gone;

    const anew = await app.request(
      `/api/v1/posts?url=${encodeURIComponent(id)}&nocache=true&format=json`,
    );
    const cached = await read();

    expect([reply.statusCode, anew.statusCode, cached.statusCode]).toEqual([200, 404, 404]);
    expect(cached.json().unavailable.reason).toBe('deleted');
  });
});

describe('the address of an account', () => {
  it('is named as such', async () => {
    const { reply } = await readFrom(
      { [host]: byId({ ...wren, id: `https://${host}/by/wren` }) },
      `https://${host}/by/wren`,
    );

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'invalid_path']);
    expect(reply.json().resolution).toContain(`@wren@${host}`);
  });
});

describe('a server without the API of Mastodon', () => {
  const noteId = `https://${host}/notes/9xk2`;
  const documents: Documents = {
    ...byId(wren, noteOf(wren, noteId)),
    ...fingerOf(wren, `wren@${host}`),
  };

  it.each([
    `/https://${host}/notes/9xk2`,
    `/_@${host}/status/9xk2`,
    `/api/v1/posts?handle=_@${host}&id=9xk2`,
  ])('is read by %s', async (path) => {
    const { app } = await readFrom({ [host]: documents });

    const reply = await app.request(`${path}${path.includes('?') ? '&' : '?'}format=json`);

    expect([reply.statusCode, reply.json().posts?.[0]?.id]).toEqual([200, noteId]);
  });

  it('has profiles', async () => {
    const outbox: Json = { id: wren.outbox, type: 'OrderedCollection', totalItems: 0 };
    const { app } = await readFrom({ [host]: { ...documents, ...byId(outbox) } });

    const reply = await app.request(`/@wren@${host}?format=json`);

    expect([reply.statusCode, reply.json().source]).toEqual([200, 'activitypub']);
    expect(reply.json().profile).toMatchObject({ platform: 'activitypub', statuses: 0 });
  });

  it('that has no ActivityPub either says so', async () => {
    const { app } = await readFrom({ [host]: {} });

    const reply = await app.request(`/https://${host}/@wren/112?format=json`);

    expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
  });
});

describe('a list of replies', () => {
  it('never shows a reply in the words of another server', async () => {
    const honest = noteOf(kelp, `https://${far}/post/7`, { inReplyTo: id, content: 'Honest' });
    const stranger = noteOf(kelp, `https://${far}/post/8`, { content: 'No reply at all' });
    const replies = {
      id: `${id}/replies`,
      type: 'Collection',
      items: [{ ...honest, content: 'Forged' }, stranger, `https://${far}/post/9`],
    };
    const asked = { ...note, replies: replies.id };
    const { reply } = await readFrom({
      [host]: byId(wren, asked, replies),
      [far]: byId(kelp, honest, stranger),
    });

    expect(reply.json().posts.map(({ text }: { text: string }) => text)).toEqual([
      `A note at ${id}`,
      'Honest',
    ]);
    expect(reply.json().warnings).toEqual([expect.stringContaining('1 reply is missing')]);
  });

  it('is read by its own route', async () => {
    const first = noteOf(wren, `https://${host}/post/2`, { inReplyTo: id });
    const replies = { type: 'Collection', first: { type: 'CollectionPage', items: [first] } };
    const { app } = await readFrom({ [host]: byId(wren, { ...note, replies }) });

    const path = `/api/v1/posts/${encodeURIComponent(id)}/replies?format=json`;
    const reply = await app.server.inject(path);

    expect(reply.json()).toMatchObject({ resource: 'replies', posts: [{ id: first.id }] });
  });

  it('that does not end costs a bounded number of requests', async () => {
    const far = (at: number): Json => ({
      id: `${id}/replies?page=${at}`,
      type: 'CollectionPage',
      items: [{ id: `${id}/none/${at}`, type: 'Note' }],
      next: `https://${host}/post/1/replies?page=${at + 1}`,
    });
    const endless: FakeHandler = (request, response) => {
      const { searchParams, pathname } = new URL(request.url ?? '', id);
      const body =
        pathname === '/post/1/replies' ? far(Number(searchParams.get('page') ?? 0)) : undefined;
      const documents = byId(wren, { ...note, replies: `${id}/replies` });
      const found = body === undefined ? documents : { [request.url ?? '']: { body } };
      serveDocuments(found)(request, response);
    };
    const { reply, fake } = await readFrom({ [host]: endless });

    expect(reply.statusCode).toBe(200);
    expect(fake.requests.length).toBeLessThan(12);
  });
});
