import { verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { httpbis } from 'http-message-signatures';
import httpSignature from 'http-signature';
import { describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { openFakeInternet, siteAddresses } from '../support/fake-internet.ts';
import { publicAudience, toActor } from '../support/fediverse.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const baseUrl = 'https://perch.example.org';
const host = 'sea.example.net';
const note = {
  ...{ id: `https://${host}/notes/1`, type: 'Note', to: [publicAudience] },
  ...{ attributedTo: `https://${host}/users/ada`, content: '<p>For those who sign</p>' },
  published: '2026-11-01T12:00:00Z',
};

/** Check of a signature with the public key that the actor of `app` has. */
type Check = (request: IncomingMessage, publicKey: string) => Promise<boolean> | boolean;

const checkCavage: Check = (request, publicKey) => {
  try {
    const parsed = httpSignature.parseRequest(request as never, {
      clockSkew: Number.MAX_SAFE_INTEGER,
    });
    return httpSignature.verifySignature(parsed, publicKey);
  } catch {
    return false;
  }
};

const checkRfc9421: Check = async ({ method = '', url = '', headers }, publicKey) => {
  const request = { method, url: `https://${host}${url}`, headers: headers as never };
  const check = async (data: Buffer, signature: Buffer) =>
    verify('sha256', data, publicKey, signature);
  const keyLookup = async () => ({ algs: ['rsa-v1_5-sha256'], verify: check });
  const checked =
    headers['signature-input'] && (await httpbis.verifyMessage({ keyLookup }, request));
  return checked === true;
};

/** Reads the post from a server that answers only requests which `check` accepts. */
async function readFrom(check: Check, env: Readonly<Record<string, string>>) {
  const sent: IncomingMessage[] = [];
  const opened: { app?: TestApp } = {};
  const keyOf = async () => {
    const reply = await opened.app?.server.inject({ url: '/actor' });
    return String(reply?.json().publicKey?.publicKeyPem);
  };
  const network = await openFakeInternet({ [host]: [siteAddresses[0]] }, (request, response) => {
    sent.push(request);
    const answer = (isAccepted: boolean) => {
      const body = request.url === '/notes/1' ? note : toActor(host, 'ada');
      response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/activity+json' });
      response.end(JSON.stringify(isAccepted ? body : { error: 'Sign your request' }));
    };
    const isApi = request.url?.startsWith('/api/') === true;
    if (isApi) response.writeHead(404, { 'content-type': 'text/html' }).end('No API');
    else
      void keyOf()
        .then((key) => check(request, key))
        .then(answer);
  });
  const app = await buildTestApp({
    network,
    env: { PERCH_PROVIDERS: 'mastodon,activitypub', PERCH_BASE_URL: baseUrl, ...env },
  });
  opened.app = app;
  const url = encodeURIComponent(note.id);
  const reply = await app.server.inject({ url: `/api/v1/posts?url=${url}&thread=off&format=json` });
  return { reply, sent };
}

const withActor = () => ({ PERCH_ACTOR: 'true', PERCH_DATA_DIR: temporaryFolder() });

describe('a server that answers only signed requests', () => {
  it.each([
    ['RFC 9421', checkRfc9421],
    ['draft-cavage', checkCavage],
  ])('is read with PERCH_ACTOR if it verifies %s', async (_, check) => {
    const { reply } = await readFrom(check, withActor());

    expect(reply.statusCode, reply.body).toBe(200);
    expect(reply.json().posts[0].text).toBe('For those who sign');
  });

  it('is not read without PERCH_ACTOR, and the error says why', async () => {
    const { reply, sent } = await readFrom(checkCavage, {});

    expect(reply.statusCode).toBe(503);
    expect(reply.json().detail).toMatch(/refuses requests without a signature .* PERCH_ACTOR/);
    expect(sent.every(({ headers }) => headers.signature === undefined)).toBe(true);
  });
});
