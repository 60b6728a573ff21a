import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../src/lib/random.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildApp } from '../../src/server/build-app.ts';
import { asAdmin, buildTestApp, testConfig } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { browseRequests, postRequests } from '../support/row-requests.ts';

/** A server with a key that logs at the most detailed level. */
interface TalkativeApp {
  readonly key: string;
  /** Lines logged so far. */
  log(): string;
  request(
    url: string,
    options?: { readonly method?: string; readonly headers?: Record<string, string> },
  ): Promise<LightMyRequestResponse>;
}

const down: Provider = {
  name: 'down',
  platforms: ['x', 'sample'],
  reads: new Set(['post', 'profile', 'search']),
  covers: () => true,
  fetch: { post: fail, profile: fail, search: fail },
};

async function fail(): Promise<never> {
  throw new ProviderError('unavailable', 'It is down.');
}

const broken: Provider = {
  ...down,
  // Breaks the contract of providers, so that the read fails over it and is logged as a defect.
  fetch: { post: nothing, profile: nothing, search: nothing },
};

async function nothing(): Promise<never> {
  return null as never;
}

async function startTalkative(providers?: readonly Provider[]): Promise<TalkativeApp> {
  const lines: string[] = [];
  const { server } = await buildApp({
    config: testConfig({ LOG_LEVEL: 'trace', PERCH_ACCESS_LOG: 'all', PERCH_SLOW_REQUEST_MS: '1' }),
    clock: createManualClock(),
    random: systemRandom,
    logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
    ...(providers === undefined ? {} : { providers }),
  });
  onTestFinished(() => server.close());
  const made = await server.inject({
    url: '/api/admin/keys',
    method: 'POST',
    headers: { ...asAdmin, 'content-type': 'application/json' },
    payload: '{"label":"secret"}',
  });
  expect(made.statusCode).toBe(201);
  return {
    key: made.json().key,
    log: () => lines.join(''),
    request: (url, { method = 'GET', headers = {} } = {}) =>
      server.inject({ url, method: method as 'GET', headers }),
  };
}

function expectSecret(text: string, key: string): void {
  const readable = decode(decode(text));
  const starts = Array.from({ length: key.length - 15 }, (_, index) => 'perch_'.length + index);
  const pieces = starts.map((start) => key.slice(start, start + 10));
  expect(pieces.filter((piece) => readable.includes(piece))).toEqual([]);
}

function decode(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function encode(key: string, isEncoded: (index: number) => boolean): string {
  return [...key]
    .map((one, index) => (isEncoded(index) ? `%${one.charCodeAt(0).toString(16)}` : one))
    .join('');
}

/** Requests that end in a page, in a problem of each kind, and with an unsupported method. */
const asked = [...browseRequests, ...postRequests].flatMap(({ url, missingUrl }) => [
  { url, method: 'GET' },
  { url, method: 'DELETE' },
  { url: missingUrl ?? '/no/route', method: 'GET' },
  { url: `${url}&format=pdf`, method: 'GET' },
]);

/** Ways to put a key into a URL. */
const spellings: readonly (readonly [string, (key: string) => string])[] = [
  ['as it is', (key) => key],
  ['with its underscore encoded', (key) => key.replace('_', '%5F')],
  ['with its underscore encoded in lower case', (key) => key.replace('_', '%5f')],
  ['with its underscore encoded twice over', (key) => key.replace('_', '%255F')],
  ['with each character encoded', (key) => encode(key, () => true)],
  ['with its prefix encoded', (key) => encode(key, (index) => index < 6)],
  ['with its first letter encoded', (key) => encode(key, (index) => index === 0)],
  ['with one early in its secret encoded', (key) => encode(key, (index) => index === 9)],
  ['in capitals', (key) => key.replace('perch_', 'PERCH_')],
  ['after a word', (key) => `my-${key}`],
  ['twice', (key) => `${key},${key}`],
];

/** Places in a URL where a key may appear by mistake; all of them end in a problem. */
const places: readonly ((key: string) => string)[] = [
  (key) => `/no/route/${key}`,
  (key) => `/no/route?key=${key}`,
  (key) => `/no/route?x=${key}`,
  (key) => `/no/route?Authorization=Bearer%20${key}`,
  (key) => `/no/route?access_token=${key}&q=${key}`,
  (key) => `/${key}`,
  (key) => `/${key}/followers`,
  (key) => `/${key}/status/1`,
  (key) => `/ada.example/status/${key}`,
  (key) => `/ada.example/photos/${key}`,
  (key) => `/ada.example?cursor=${key}`,
  (key) => `/ada.example?limit=${key}`,
  (key) => `/api/v1/profiles/${key}`,
  (key) => `/api/v1/profiles/${key}/following`,
  (key) => `/api/v1/posts?url=${key}`,
  (key) => `/api/v1/posts?url=https://${key}/ada/status/1`,
  (key) => `/api/v1/posts?url=https://x.com/${key}`,
  (key) => `/api/v1/posts?url=https://${key}@x.com/ada/status/1`,
  (key) => `/api/v1/posts?handle=${key}&id=1`,
  (key) => `/api/v1/posts?handle=ada.example&id=${key}`,
  (key) => `/api/v1/oembed?url=${key}`,
  (key) => `/api/v1/search?q=${key}&feed=none`,
  (key) => `/search?q=heron&feed=${key}`,
  (key) => `/search?q=heron&format=${key}`,
  (key) => `/search?q=heron&platform=${key}`,
  (key) => `/search?q=heron&since=${key}`,
  (key) => `/api/browse?resource=${key}`,
  (key) => `/api/browse?resource=profile&handle=${key}`,
  (key) => `/api/admin/keys/${key}`,
  (key) => `/%E0%A4%A/${key}`,
  (key) => `/no/route?x=${'a'.repeat(8200)}${key}`,
];

describe('a key', () => {
  clause('read.auth.query_key_ignored').each(spellings)(
    'in a URL is not in any problem, header or log line: %s',
    async (_, write) => {
      const { key, log, request } = await startTalkative();

      for (const place of places) {
        const url = place(write(key));
        for (const options of [{}, { headers: { authorization: `Bearer ${key}` } }]) {
          const reply = await request(url, options);
          expect(reply.statusCode, url).toBeGreaterThanOrEqual(400);
          expectSecret(`${reply.body}${JSON.stringify(reply.headers)}`, key);
        }
      }

      expect(log()).toContain('request answered');
      expectSecret(log(), key);
    },
  );

  const headers: readonly (readonly [string, (key: string) => Record<string, string>])[] = [
    ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
    ['Authorization, with a fault', (key) => ({ authorization: `Bearer ${key}x` })],
    ['Authorization, twice in one', (key) => ({ authorization: `Bearer ${key}, Bearer ${key}` })],
    ['Authorization, too long', (key) => ({ authorization: `Bearer ${key.repeat(90)}` })],
    ['Authorization as Basic', (key) => ({ authorization: `Basic ${key}` })],
    ['X-Api-Key', (key) => ({ 'x-api-key': key })],
    ['Cookie', (key) => ({ cookie: `key=${key}` })],
    ['User-Agent', (key) => ({ 'user-agent': key })],
    ['Origin', (key) => ({ origin: `https://${key}` })],
    ['If-None-Match', (key) => ({ 'if-none-match': `"${key}"` })],
    ['Accept', (key) => ({ accept: key })],
    ['X-Request-Id', (key) => ({ 'x-request-id': key })],
    ['X-Forwarded-For', (key) => ({ 'x-forwarded-for': key })],
    ['Host', (key) => ({ host: key })],
  ];
  clause('read.auth.custom_headers_ignored').each(headers)(
    'in a header is not in any reply, header or log line: %s',
    async (_, write) => {
      for (const providers of [undefined, [down], [broken]]) {
        const { key, log, request } = await startTalkative(providers);
        for (const { url, method } of asked) {
          const reply = await request(url, { method, headers: write(key) });
          expectSecret(`${reply.body}${JSON.stringify(reply.headers)}`, key);
        }
        expect(log()).toContain('request answered');
        expectSecret(log(), key);
      }
    },
  );
});

describe('a key with one character percent-encoded', () => {
  const encodeAt = (key: string, index: number) =>
    `${key.slice(0, index)}%${key.charCodeAt(index).toString(16)}${key.slice(index + 1)}`;
  const spellings: readonly (readonly [string, (key: string) => string])[] = [
    ['the 17th of the secret', (key) => encodeAt(key, 22)],
    ['the 20th of the secret', (key) => encodeAt(key, 25)],
    ['the 30th of the secret', (key) => encodeAt(key, 35)],
  ];
  it.each(spellings)('is not in any problem or log line: %s', async (_, write) => {
    const lines: string[] = [];
    const app = await buildTestApp({
      env: { PERCH_ACCESS_LOG: 'all' },
      onLog: (line) => lines.push(line),
    });
    const { key } = await app.createKey();
    const paths = ['/no/route/', '/no/route?x=', '/', '/api/v1/posts?url=', '/search?feed=1&q='];

    for (const path of paths) {
      const reply = await app.request(`${path}${write(key)}`);
      expect(reply.statusCode).toBeGreaterThanOrEqual(400);
      expectSecret(reply.body, key);
    }
    expectSecret(lines.join(''), key);
  });
});
