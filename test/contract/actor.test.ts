import { createPublicKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { buildTestApp } from '../support/build-app.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const baseUrl = 'https://perch.example.org';
const id = `${baseUrl}/actor`;

async function buildActorApp(folder = temporaryFolder()) {
  const env = { PERCH_ACTOR: 'true', PERCH_BASE_URL: baseUrl, PERCH_DATA_DIR: folder };
  const app = await buildTestApp({ env });
  return app;
}

describe('the instance actor', () => {
  it('is an application whose public key is that of `actor.key`', async () => {
    const folder = temporaryFolder();
    const app = await buildActorApp(folder);

    const reply = await app.server.inject({ url: '/actor' });

    expect(reply.headers['content-type']).toBe('application/activity+json; charset=utf-8');
    expect(reply.json()).toMatchObject({
      ...{ id, type: 'Application', preferredUsername: 'perch' },
      inbox: `${id}/inbox`,
      publicKey: { id: `${id}#main-key`, owner: id },
    });
    const key = createPublicKey(readFileSync(`${folder}/actor.key`, 'utf8'));
    const pem = key.export({ type: 'spki', format: 'pem' });
    expect(reply.json().publicKey.publicKeyPem).toBe(pem);
    expect(statSync(`${folder}/actor.key`).mode & 0o077).toBe(0);
  });

  it('keeps its key when the server starts again', async () => {
    const folder = temporaryFolder();
    const keyOf = async () => {
      const app = await buildActorApp(folder);
      return (await app.server.inject({ url: '/actor' })).json().publicKey.publicKeyPem;
    };

    expect(await keyOf()).toBe(await keyOf());
  });

  it.each(['acct:perch@perch.example.org', id])('is found by WebFinger as %s', async (resource) => {
    const app = await buildActorApp();

    const reply = await app.server.inject({
      url: '/.well-known/webfinger',
      query: { resource },
    });

    expect(reply.headers['content-type']).toBe('application/jrd+json; charset=utf-8');
    expect(reply.json()).toEqual({
      subject: 'acct:perch@perch.example.org',
      aliases: [id],
      links: [{ rel: 'self', type: 'application/activity+json', href: id }],
    });
  });

  it.each([
    ['?resource=acct:ada@perch.example.org', 404, 'not_found'],
    ['?resource=acct:perch@sea.example.net', 404, 'not_found'],
    ['', 400, 'invalid_option'],
    ['?resource=a&resource=b', 400, 'invalid_option'],
  ])('is the only account: WebFinger answers %j with %i', async (query, status, code) => {
    const app = await buildActorApp();

    const reply = await app.server.inject({ url: `/.well-known/webfinger${query}` });

    expect(reply.statusCode).toBe(status);
    expect(reply.json()).toMatchObject({ code });
  });

  it.each(['GET', 'POST', 'PUT'] as const)(
    'accepts no activities: %s answers 405',
    async (method) => {
      const app = await buildActorApp();

      const reply = await app.server.inject({ method, url: '/actor/inbox' });

      expect(reply.statusCode).toBe(405);
      expect(reply.json()).toMatchObject({
        code: 'method_not_allowed',
        detail: 'The instance actor accepts no activities.',
      });
    },
  );

  it('has an empty outbox', async () => {
    const app = await buildActorApp();

    const reply = await app.server.inject({ url: '/actor/outbox' });

    expect(reply.json()).toMatchObject({ type: 'OrderedCollection', totalItems: 0 });
  });

  it('does not exist by default: the path is that of a profile', async () => {
    const app = await buildTestApp();

    const replies = await Promise.all(
      ['/.well-known/webfinger?resource=x', '/actor/inbox'].map((url) =>
        app.server.inject({ url }),
      ),
    );

    expect(replies.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
    const { body } = await app.server.inject({ url: '/actor' });
    expect(body).not.toContain('publicKey');
  });
});

it.each([
  [{}, /PERCH_BASE_URL must be a public https/],
  [{ PERCH_BASE_URL: 'http://perch.example.org' }, /PERCH_BASE_URL must be a public https/],
  [{ PERCH_BASE_URL: 'https://localhost' }, /PERCH_BASE_URL must be a public https/],
  [{ PERCH_BASE_URL: 'https://perch.example.org:8443' }, /without a port/],
  [{ PERCH_BASE_URL: 'https://example.org/perch' }, /without a port or a path/],
  [{ PERCH_BASE_URL: baseUrl, PERCH_DATA_DIR: ':memory:' }, /PERCH_DATA_DIR must not be/],
])('PERCH_ACTOR refuses the settings %j', (env, words) => {
  const loaded = loadConfig({ PERCH_ACTOR: 'true', ...env });

  expect(loaded.ok ? [] : loaded.faults).toEqual([expect.stringMatching(words)]);
});
