import { generateKeyPairSync, verify } from 'node:crypto';
import { ClientRequest, type IncomingMessage } from 'node:http';
import { cavage, createSigner, httpbis } from 'http-message-signatures';
import httpSignature from 'http-signature';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/lib/clock.ts';
import { openHttpClient } from '../../../../src/lib/http/http-client.ts';
import {
  createSignedGet,
  type SignatureScheme,
  signRequest,
} from '../../../../src/lib/http/request-signatures.ts';
import { systemRandom } from '../../../../src/lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../../../src/lib/scheduling/fair-queue.ts';

import { answerText, startFakeUpstream } from '../../../support/fake-upstream.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyId = 'https://perch.example.org/actor#main-key';
const key = { keyId, privateKey };
const url = new URL('https://sea.example.net/users/ada/outbox?page=true&max_id=1');
const nowMs = Date.UTC(2026, 10, 30, 9, 30, 15);

const sign = (scheme: SignatureScheme, of = url) => signRequest(of, key, { scheme, nowMs });

describe('a signature of RFC 9421', () => {
  const headers = sign('rfc9421');
  const verifier = (data: Buffer, signature: Buffer) =>
    Promise.resolve(verify('sha256', data, publicKey, signature));
  const keyLookup = async () => ({ id: keyId, algs: ['rsa-v1_5-sha256'], verify: verifier });
  const check = (to: URL) => {
    const request = { method: 'GET', url: to, headers: { ...headers } };
    return httpbis.verifyMessage({ keyLookup, notAfter: new Date(nowMs + 1000) }, request);
  };

  it('is valid for another implementation', async () => {
    expect(await check(url)).toBe(true);
  });

  it('is not valid for another URL', async () => {
    expect(await check(new URL('?page=true&max_id=2', url))).toBe(false);
  });

  it('equals that of another implementation', async () => {
    const request = { method: 'GET', url, headers: {} };
    const signed = await httpbis.signMessage(
      {
        key: createSigner(privateKey, 'rsa-v1_5-sha256', keyId),
        name: 'sig1',
        fields: ['@method', '@target-uri'],
        params: ['created', 'keyid', 'alg'],
        paramValues: { created: new Date(nowMs) },
      },
      request,
    );

    expect(lowerCase(signed.headers)).toEqual(headers);
  });
});

describe('a signature of draft-cavage', () => {
  const headers = sign('cavage');
  const parse = (path: string) => {
    const sent = { host: url.host, ...headers };
    const request = Object.assign(Object.create(ClientRequest.prototype), {
      ...{ method: 'GET', url: path, httpVersion: '1.1', headers: sent },
    });
    return httpSignature.parseRequest(request, { clockSkew: Number.MAX_SAFE_INTEGER });
  };
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();

  it('is valid for another implementation, which reads the id of the key', () => {
    const parsed = parse(`${url.pathname}${url.search}`);

    expect(parsed.params.keyId).toBe(keyId);
    expect(httpSignature.verifySignature(parsed, pem)).toBe(true);
  });

  it('is not valid for another path', () => {
    expect(httpSignature.verifySignature(parse('/users/eve'), pem)).toBe(false);
  });

  it('equals that of another implementation', async () => {
    const { date = '' } = headers;
    const signed = await cavage.signMessage(
      {
        key: createSigner(privateKey, 'rsa-v1_5-sha256', keyId),
        fields: ['@request-target', 'host', 'date'],
        params: ['keyid', 'alg'],
      },
      { method: 'GET', url, headers: { host: url.host, date } },
    );
    const bytesOf = (text = '') => /signature="([^"]+)"/.exec(text)?.[1];

    expect(bytesOf(headers.signature)).toBe(bytesOf(lowerCase(signed.headers).signature));
  });
});

const lowerCase = (headers: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), `${value}`]),
  );

const isRfc9421 = ({ headers }: IncomingMessage) => headers['signature-input'] !== undefined;

/** Opens a signing client for a server that answers 401 to requests which it does not accept. */
async function openRig(accepts: (request: IncomingMessage) => boolean) {
  const upstream = await startFakeUpstream((request, response) => {
    if (request.url === '/moved') {
      response.writeHead(302, { location: '/note' }).end();
      return;
    }
    const status = accepts(request) ? 200 : 401;
    answerText(response, { type: 'application/activity+json', text: '{}' }, { status });
  });
  const http = openHttpClient({
    ...{ connectTimeoutMs: 2000, attemptTimeoutMs: 5000, maxBytes: 10_000, userAgent: 'Perch' },
    ...{ clock: systemClock, random: systemRandom },
    heavyTurns: createHeavyTurns(createServerLoop()),
  });
  onTestFinished(async () => {
    await http.close();
    await upstream.close();
  });
  const get = createSignedGet(http, key, systemClock);
  const signal = new AbortController().signal;
  const schemes = () =>
    upstream.requests.map(({ headers }) =>
      headers['signature-input'] === undefined ? 'cavage' : 'rfc9421',
    );
  return {
    ask: async (path: string) => (await get(new URL(path, upstream.url), { signal })).status,
    requests: upstream.requests,
    schemes,
  };
}

describe('a client that signs', () => {
  it('sends one request to a server that accepts RFC 9421', async () => {
    const { ask, schemes } = await openRig(isRfc9421);

    expect([await ask('/note'), await ask('/note')]).toEqual([200, 200]);
    expect(schemes()).toEqual(['rfc9421', 'rfc9421']);
  });

  it('asks again with draft-cavage, and remembers what the server accepted', async () => {
    const { ask, schemes } = await openRig((request) => !isRfc9421(request));

    expect([await ask('/note'), await ask('/note')]).toEqual([200, 200]);
    expect(schemes()).toEqual(['rfc9421', 'cavage', 'cavage']);
  });

  it('goes back to RFC 9421 when the server begins to require it', async () => {
    let isNew = false;
    const { ask, schemes } = await openRig((request) => isRfc9421(request) === isNew);
    await ask('/note');
    isNew = true;

    expect([await ask('/note'), await ask('/note')]).toEqual([200, 200]);
    expect(schemes()).toEqual(['rfc9421', 'cavage', 'cavage', 'rfc9421', 'rfc9421']);
  });

  it('returns the refusal of a server that accepts neither', async () => {
    const { ask, schemes } = await openRig(() => false);

    expect(await ask('/note')).toBe(401);
    expect(schemes()).toEqual(['rfc9421', 'cavage']);
  });

  it('signs the URL of each redirect', async () => {
    const { ask, requests } = await openRig(isRfc9421);

    expect(await ask('/moved')).toBe(200);
    const [first, second] = requests.map(({ headers }) => headers.signature);
    expect(first).toMatch(/^sig1=:/);
    expect(second).toMatch(/^sig1=:/);
    expect(second).not.toBe(first);
  });
});
