import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { feedFormats } from '../../src/model/results.ts';
import type { TestApp } from '../support/build-app.ts';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { checkIfFeed } from '../support/feeds.ts';
import {
  answerFixture,
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
  serveFixtures,
} from '../support/fixtures.ts';
import { listen, upstream } from '../support/listen.ts';
import { expectBounded } from '../support/text-bound.ts';
import { fxTwitterFolders, idOf, listRecorded, type RecordedRead, unread } from './recordings.ts';

/** Reads recordings repeatedly, including those of failures. */
const patient = { PERCH_BREAKER_FAILURES: '1000', PERCH_LINK_PREVIEWS: 'true' };

/** Paths of the requests that a recording answers. Other requests get other recordings. */
const endpoints: Readonly<Record<Exclude<RecordedRead, 'profile'>, RegExp>> = {
  post: /^\/2\/(?:status|thread|conversation)\//,
  timeline: /\/statuses$/,
  connections: /\/(?:followers|following)$/,
  search: /^\/2\/search$/,
};

const silent: FakeHandler = (_request, response) => response.writeHead(500).end();

async function setUp(fxtwitter: FakeHandler, syndication: FakeHandler = silent): Promise<TestApp> {
  const [first, second] = [await upstream(fxtwitter), await upstream(syndication)];
  const { app } = await listen({
    ...patient,
    PERCH_FXTWITTER_URL: first.url,
    PERCH_SYNDICATION_URL: second.url,
  });
  return app;
}

const serve =
  (name: string): FakeHandler =>
  (_request, response) =>
    answerFixture(response, readFixture(name));

/** Answers a path with a recording, and everything else like FxTwitter on that day. */
function serveAt(name: string, path: RegExp): FakeHandler {
  const isDown = name.includes('/upstream-down/');
  const beside = (asked: string): string | null => {
    if (/^\/2\/profile\/[^/]+$/.test(asked)) return profileFor(asked, isDown);
    return asked.endsWith('/statuses') ? 'fxtwitter/statuses/xdevelopers-page.json' : null;
  };
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x.example');
    const found = path.test(pathname) ? name : beside(pathname);
    if (found === null) answerJson(response, {}, { status: 404 });
    else serve(found)(request, response);
  };
}

function profileFor(path: string, isDown: boolean): string {
  if (isDown) return 'fxtwitter/errors/upstream-down/profile-404.json';
  if (path.endsWith('/x')) return 'fxtwitter/profile/x.json';
  return `fxtwitter/profile/${path.endsWith('/xdevelopers') ? 'xdevelopers' : 'not-found'}.json`;
}

/** Reads paths, each compact and full. Every reply is a document or the expected problem. */
async function readAll(app: TestApp, paths: readonly string[], status: number) {
  const replies: LightMyRequestResponse[] = [];
  for (const path of paths) {
    for (const full of [path, `${path}&full=true&userinfo=all`]) {
      const reply = await app.request(full);
      expect([full, reply.statusCode]).toEqual([full, status]);
      expectReadable(reply);
      replies.push(reply);
    }
    if (status === 200) await expectBounded(app, path);
  }
  return replies;
}

/** Checks a document. The client has already checked the schema of JSON. */
function expectReadable({ body, headers, statusCode }: LightMyRequestResponse): void {
  expect(body).not.toMatch(/\bundefined\b|\[object |\bNaN\b|\bInfinity\b/);
  if (statusCode !== 200) return;
  expect(body.length).toBeGreaterThan(20);
  checkIfFeed({ body, headers });
  if (!String(headers['content-type']).includes('json')) expect(body).not.toMatch(/\bnull\b/);
}

/** Members of bodies that these tests use. */
interface Body {
  readonly posts: readonly { readonly id: string }[];
  readonly users: readonly unknown[];
  readonly profile: { readonly screen_name: string };
  readonly source: string;
  readonly warnings: readonly string[];
}

function bodyOf(replies: readonly LightMyRequestResponse[]): Body {
  const found = replies.find(({ headers }) => /\/json/.test(String(headers['content-type'])));
  if (found === undefined) throw new Error('No reply is JSON.');
  return found.json();
}

const postFormats = ['markdown', 'json', 'obsidian', ...feedFormats];
const accountFormats = ['markdown', 'json'];
const browseFormats = [...accountFormats, ...feedFormats];

/** Returns the query parameters with which the recording answers the request. */
function optionsOf(name: string): string {
  if (name.includes('/thread/')) return 'replies=off';
  return name.includes('/conversation') ? 'thread=conversation' : 'thread=off';
}

/** Returns the id that the recording was requested for, or else a made-up one. */
function postIdOf(name: string): string {
  const id = idOf(name);
  return /^[1-9]\d{0,18}$/.test(id) ? id : '20';
}

/** Returns the handle that the recording was requested for, or else a made-up one. */
function handleOf(name: string): string {
  const { pathname } = new URL(readFixture(name).request.url);
  const [, handle = ''] = /^(?:\/2\/profile)?\/([^/]+)/.exec(pathname) ?? [];
  if (handle.startsWith('id:')) return 'x';
  return /^\w{1,15}$/.test(handle) ? handle : 'nobody';
}

const place = `over HTTP (${fixturesFolder})`;

describe.skipIf(!fixturesPresent)(`recorded posts ${place}`, () => {
  it.each(listRecorded('post'))('are served in every format: %s, %i', async (name, status) => {
    const app = name.startsWith('syndication/')
      ? await setUp(silent, serve(name))
      : await setUp(serveAt(name, endpoints.post));
    const url = `https://x.com/i/status/${postIdOf(name)}`;

    await readAll(
      app,
      postFormats.map((format) => `/api/v1/posts?url=${url}&${optionsOf(name)}&format=${format}`),
      status,
    );
    const [embed] = await readAll(app, [`/api/v1/oembed?url=${url}`], status);
    const page = await app.request(`/jack/status/${postIdOf(name)}`, {
      headers: { 'user-agent': 'Twitterbot/1.0' },
    });

    expectReadable(page);
    expect(page.statusCode).toBe(status);
    if (status !== 200) return;
    expect(embed?.json()).toMatchObject({ type: 'rich', version: '1.0' });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('og:title');
  });

  it.each(['1649191520250245121', '20', '991202'])(
    'are joined to the default answer: %s',
    async (id) => {
      const app = await setUp(serveFixtures(...fxTwitterFolders));

      const replies = await readAll(
        app,
        postFormats.map((format) => `/api/v1/posts?handle=i&id=${id}&format=${format}`),
        200,
      );

      const { posts, warnings } = bodyOf(replies);
      expect(posts.map((post) => post.id)).toContain(id);
      expect(warnings).toEqual([]);
    },
  );
});

describe.skipIf(!fixturesPresent)(`recorded profiles and lists ${place}`, () => {
  it.each(listRecorded('profile'))('are served in every format: %s, %i', async (name, status) => {
    const handle = handleOf(name);
    const app = await setUp(serveAt(name, new RegExp(`^/2/profile/${handle}$`)));

    const address = `/api/v1/profiles/${handle}`;
    const paths = [
      ...browseFormats.map((format) => `${address}?format=${format}`),
      ...accountFormats.map((format) => `${address}?format=${format}&include_posts=false`),
    ];
    const replies = await readAll(app, paths, status);

    if (status !== 200) return;
    const { source, profile } = bodyOf(replies);
    expect([source, profile.screen_name.toLowerCase()]).toEqual(['fxtwitter', handle]);
  });

  it.each(listRecorded('timeline'))('are served in every format: %s, %i', async (name, status) => {
    const app = await setUp(serveAt(name, endpoints.timeline));

    const paths = ['', '&with_replies=true&with_reposts=true', '&until=2026-07-08'].flatMap(
      (options) =>
        browseFormats.map(
          (format) => `/api/v1/profiles/${handleOf(name)}?format=${format}${options}`,
        ),
    );
    const replies = await readAll(app, paths, status);

    if (status !== 200) return;
    const { posts, warnings } = bodyOf(replies);
    expect(posts.length > 0).toBe(name.includes('/xdevelopers-page'));
    expect(warnings.length > 0).toBe(/-20[04]|-400|-grouped/.test(name) && !name.includes('empty'));
  });

  it.each(listRecorded('connections'))(
    'are served in every format: %s, %i',
    async (name, status) => {
      const app = await setUp(serveAt(name, endpoints.connections));

      const paths = ['followers', 'following'].flatMap((list) =>
        accountFormats.map(
          (format) => `/api/v1/profiles/${handleOf(name)}/${list}?format=${format}&limit=100`,
        ),
      );
      const replies = await readAll(app, paths, status);

      expect(bodyOf(replies).users.length).toBeGreaterThan(0);
    },
  );

  it.each(listRecorded('search'))('are served in every format: %s, %i', async (name, status) => {
    const app = await setUp(serveAt(name, endpoints.search));

    const paths = ['latest', 'top', 'photos', 'videos'].flatMap((feed) =>
      browseFormats.map((format) => `/api/v1/search?q=neo&feed=${feed}&format=${format}`),
    );
    const replies = await readAll(app, paths, status);

    for (const { headers } of replies) expect(headers['x-search-degraded']).toBeUndefined();
  });
});

describe('the recorded suite', () => {
  it('finds the recordings if they are required', () => {
    const required = process.env.PERCH_FIXTURES_REQUIRED !== undefined;
    expect(fixturesPresent || !required, `no recordings in ${fixturesFolder}`).toBe(true);
  });

  it.skipIf(!fixturesPresent)('lists every recording in one of its tables', () => {
    const reads = ['post', 'profile', 'timeline', 'connections', 'search'] as const;
    const known = reads.flatMap((read) => listRecorded(read).map(([name]) => name));

    expect([...known, ...unread].toSorted()).toEqual(
      [...listFixtures('fxtwitter'), ...listFixtures('syndication')].toSorted(),
    );
  });
});
