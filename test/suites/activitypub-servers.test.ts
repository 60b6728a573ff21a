import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/model/post.ts';
import { serveDocuments } from '../support/activitypub/documents.ts';
import { type ServerKind, serverKinds } from '../support/activitypub/servers.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';

const buildReader = ({ host, documents }: ServerKind) =>
  buildMastodonApp({ [host]: serveDocuments(documents) });

describe.each(serverKinds)('a post on $software', (kind) => {
  const { url, expected, shown } = kind;

  it('is read as JSON by its whole URL', async () => {
    const { app } = await buildReader(kind);

    const reply = await app.request(`/${encodeURIComponent(url)}?format=json`);

    expect(reply.statusCode, reply.body).toBe(200);
    const [post] = reply
      .json<{ posts: readonly Status[] }>()
      .posts.filter((each) => each.context === 'post');
    expect(post).toMatchObject({ platform: 'activitypub', ...expected });
    expect(reply.json()).toMatchObject({ source: 'activitypub' });
  });

  it.each([
    ['markdown', 'text/markdown'],
    ['html', 'text/html'],
    ['atom', 'application/atom+xml'],
    ['rss', 'application/rss+xml'],
    ['jsonfeed', 'application/feed+json'],
    ['obsidian', 'text/markdown'],
  ])('is read as %s', async (format, type) => {
    const { app } = await buildReader(kind);

    const reply = await app.request(
      `/api/v1/posts?url=${encodeURIComponent(url)}&format=${format}`,
    );

    expect(reply.statusCode, reply.body).toBe(200);
    expect(reply.headers['content-type']).toContain(type);
    expect(reply.body).toContain(shown);
  });

  it('has an id that is read as the same post', async () => {
    const { app } = await buildReader(kind);
    const first = await app.request(`/api/v1/posts?url=${encodeURIComponent(url)}&format=json`);

    const again = await app.request(`/${encodeURIComponent(first.json().url)}?format=json`);

    expect(again.statusCode, again.body).toBe(200);
    expect(again.json().url).toBe(first.json().url);
  });
});

it('asks a server without Mastodon’s API for it once in five minutes', async () => {
  const [kind] = serverKinds;
  if (kind === undefined) throw new Error('There are servers.');
  const { app, fake } = await buildReader(kind);
  const url = encodeURIComponent(kind.url);
  const countApi = () => fake.requests.filter(({ url }) => url.includes('/api/v1/')).length;

  await app.request(`/api/v1/posts?url=${url}&format=json&nocache=true`);
  const first = countApi();
  await app.request(`/api/v1/posts?url=${url}&format=json&nocache=true`);

  expect(first).toBeGreaterThan(0);
  expect(countApi()).toBe(first);
});
