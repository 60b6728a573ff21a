import { describe, expect, it } from 'vitest';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { expectStatus, openAsCaller, readHeads, unknownKey } from '../support/key-callers.ts';
import { exchange, listen } from '../support/listen.ts';
import { browseRequests, postRequests } from '../support/row-requests.ts';

const app = shareTestApp();
const search = '/search?q=heron&platform=archive&format=json';
const profile = '/ada.example?format=json';

describe('the Authorization header', () => {
  const schemes = ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer '];
  clause('read.key.presented_as_bearer', 'read.auth.sent_as_bearer').each(schemes)(
    'accepts a key after “%s”',
    async (scheme) => {
      const { app, headers } = await openAsCaller('valid');
      const key = String(headers.authorization).slice('Bearer '.length);

      const reply = await app.request(search, { headers: { authorization: `${scheme} ${key}` } });

      expect([reply.statusCode, reply.headers['x-api-key-status']]).toEqual([200, 'valid']);
    },
  );

  const others: readonly (readonly [string, (key: string) => string])[] = [
    ['nothing', () => 'Bearer'],
    ['a space', () => 'Bearer '],
    ['the key without its prefix', (key) => `Bearer ${key.slice(6)}`],
    ['another prefix', (key) => `Bearer sk_${key.slice(6)}`],
    ['the prefix in capitals', (key) => `Bearer PERCH_${key.slice(6)}`],
    ['the prefix alone', () => 'Bearer perch_'],
    ['a key that is cut off', (key) => `Bearer ${key.slice(0, -1)}`],
    ['a key and a character', (key) => `Bearer ${key}x`],
    ['a key in quotes', (key) => `Bearer "${key}"`],
    ['two keys', (key) => `Bearer ${key} ${key}`],
    ['two keys with a comma', (key) => `Bearer ${key}, Bearer ${key}`],
    ['another last character', (key) => `Bearer ${key.slice(0, -1)}~`],
    ['a key that nobody has', () => `Bearer ${unknownKey}`],
    ['a JSON Web Token', () => 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.'],
    ['bytes beyond ASCII', () => 'Bearer perch_\u00e9\u00ff'],
    ['4089 bytes', () => `Bearer ${'x'.repeat(4089)}`],
  ];
  clause(
    'read.key_status.invalid',
    'read.auth.unknown_key_rejected',
    'read.errors.invalid_key',
  ).each(others)('reports a bearer key as unknown that is %s', async (_, write) => {
    const { app, headers } = await openAsCaller('valid');
    const key = String(headers.authorization).slice('Bearer '.length);

    for (const url of [search, profile]) {
      const reply = await app.request(url, { headers: { authorization: write(key) } });
      expect([reply.statusCode, reply.json().code]).toEqual([401, 'invalid_key']);
      expectStatus(reply, 'invalid');
    }
  });

  const ignored: readonly (readonly [string, (key: string) => Record<string, string>])[] = [
    ['Basic', (key) => ({ authorization: `Basic ${btoa(`perch:${key}`)}` })],
    ['Basic with the bare key', (key) => ({ authorization: `Basic ${key}` })],
    ['Digest', (key) => ({ authorization: `Digest username="perch", response="${key}"` })],
    ['Token', (key) => ({ authorization: `Token ${key}` })],
    ['a key without a scheme', (key) => ({ authorization: key })],
    ['a scheme that begins like Bearer', (key) => ({ authorization: `Bearerish ${key}` })],
    ['an empty value', () => ({ authorization: '' })],
  ];
  clause('read.auth.basic_ignored', 'read.auth.sent_as_bearer', 'read.key_status.anonymous').each(
    ignored,
  )('ignores %s', async (_, write) => {
    const { app, headers } = await openAsCaller('valid');
    const key = String(headers.authorization).slice('Bearer '.length);
    const plain = await app.request(search);

    const reply = await app.request(search, { headers: write(key) });

    expect([reply.statusCode, reply.body]).toEqual([200, plain.body]);
    expectStatus(reply, 'anonymous');
  });

  const names = ['key', 'api_key', 'apikey', 'access_token', 'token', 'authorization', 'bearer'];
  clause('read.auth.query_key_ignored').each(names)('ignores ?%s=', async (name) => {
    const { app, headers } = await openAsCaller('valid');
    const key = String(headers.authorization).slice('Bearer '.length);

    for (const { url } of browseRequests) {
      const plain = await app.request(url);
      const reply = await app.request(`${url}&${name}=${key}`);
      expect([reply.statusCode, reply.body]).toEqual([200, plain.body]);
      expectStatus(reply, 'anonymous');
    }
  });

  const headerNames = ['x-api-key', 'api-key', 'x-auth-token', 'proxy-authorization', 'cookie'];
  clause('read.auth.custom_headers_ignored').each(headerNames)(
    'ignores the header %s',
    async (name) => {
      const { app, headers } = await openAsCaller('valid');
      const key = String(headers.authorization).slice('Bearer '.length);

      for (const { url } of browseRequests) {
        const plain = await app.request(url);
        const reply = await app.request(url, { headers: { [name]: `Bearer ${key}` } });
        expect([reply.statusCode, reply.body]).toEqual([200, plain.body]);
        expectStatus(reply, 'anonymous');
      }
    },
  );

  clause('read.auth.sent_as_bearer').each([
    ['Bearer', `Bearer ${'x'.repeat(4090)}`],
    ['Basic', `Basic ${'x'.repeat(4091)}`],
    ['no scheme', 'x'.repeat(8000)],
  ])('rejects more than 4 kB with %s', async (_, authorization) => {
    for (const { url } of browseRequests) {
      const reply = await app.request(url, { headers: { authorization } });
      expect([reply.statusCode, reply.json().code]).toEqual([400, 'invalid_option']);
      expect(reply.json().detail).toContain('`Authorization`');
    }
    for (const { url } of postRequests) {
      expect((await app.request(url, { headers: { authorization } })).statusCode).toBe(200);
    }
  });
});

describe('several Authorization headers', () => {
  const valid = (key: string) => `Authorization: Bearer ${key}`;
  const basic = () => 'authorization: Basic cGVyY2g6cGVyY2g=';
  clause('read.auth.sent_as_bearer').each([
    ['the same key twice', valid, valid],
    ['a key, then Basic', valid, basic],
    ['a key, then an unknown one', valid, () => `AUTHORIZATION: Bearer ${unknownKey}`],
    ['a key, then nothing', valid, () => 'Authorization:'],
  ])('are rejected on the browse surface and ignored elsewhere: %s', async (_, first, second) => {
    const { app, port } = await listen();
    const { key } = await app.createKey();
    const fields = [first, second].map((line) => line(key)).join('\r\n');
    const ask = (path: string) =>
      exchange(port, [
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields}\r\n\r\n`,
      ]);

    const [browse = '', post = ''] = [
      await ask(search),
      await ask('/ada.example/status/1900000000000000001'),
    ];

    const [refused, served] = [...readHeads(browse), ...readHeads(post)];
    expect([refused?.code, served?.code]).toEqual([400, 200]);
    expect(browse).toContain('"code":"invalid_option"');
    expect(refused?.fields.get('cache-control')).toBe('private, no-store');
    expect(refused?.fields.get('x-api-key-status')).not.toBe('valid');
    expect(browse + post).not.toContain(key);
  });
});

describe('several Authorization headers with a key that is not first', () => {
  it.each(['Basic cGVyY2g6cGVyY2g=', ''])('make a private reply: first “%s”', async (first) => {
    const { app, port } = await listen();
    const { key } = await app.createKey();
    const fields = `Authorization: ${first}\r\nAuthorization: Bearer ${key}\r\n`;

    const received = await exchange(port, [
      `GET /search?q=heron HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields}\r\n`,
    ]);

    expect(received).toContain('HTTP/1.1 400 ');
    expect(received).toContain('cache-control: private, no-store');
  });
});

it.each(['/api/v1/profiles/%zz', '/%zz', '/api/v1/profiles/%E0%A4%A/followers'])(
  'a path with invalid percent-encoding reports the status of a key too: %s',
  async (path) => {
    const app = await buildTestApp();
    const { headers } = await app.createKey();

    const keyed = await app.server.inject({ url: path, headers });
    const plain = await app.server.inject({ url: path });

    expect([keyed.statusCode, keyed.headers['x-api-key-status']]).toEqual([400, 'valid']);
    expect(keyed.headers['cache-control']).toBe('private, no-store');
    expect([plain.statusCode, plain.headers['x-api-key-status']]).toEqual([400, 'anonymous']);
  },
);
