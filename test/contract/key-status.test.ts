import { describe, expect } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp, type TestApp, type TestAppOptions } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import {
  bearer,
  type CallerStatus,
  expectStatus,
  openAsCaller,
  unknownKey,
} from '../support/key-callers.ts';
import {
  browseRequests,
  headersOf,
  postRequests,
  type RowRequest,
} from '../support/row-requests.ts';

const search = '/search?q=heron&platform=archive&format=json';

/** Function that makes a request with the expected status code. */
interface Situation {
  readonly name: string;
  readonly code: number;
  /** Status code for an invalid key. Default: 401, because the key is checked first. */
  readonly invalidCode?: number;
  readonly options?: TestAppOptions;
  readonly request?: { readonly method?: string; readonly headers?: Record<string, string> };
  /** Returns the URL, or `null` if the row cannot have this status. Default: the URL that succeeds. */
  readonly urlOf?: (request: RowRequest) => string | null;
  readonly prepare?: (app: TestApp, headers: Record<string, string>) => unknown;
}

const down: Provider = {
  name: 'down',
  platforms: ['sample'],
  reads: new Set(['profile', 'timeline', 'followers', 'following', 'search']),
  covers: () => true,
  fetch: { profile: fail, timeline: fail, followers: fail, following: fail, search: fail },
};

async function fail(): Promise<never> {
  throw new ProviderError('unavailable', 'It is down.');
}

const broken: Provider = {
  ...down,
  // Each breaks the contract of providers, so that the read fails over it.
  fetch: {
    profile: nothing,
    timeline: nothing,
    followers: nothing,
    following: nothing,
    search: nothing,
  },
};

async function nothing(): Promise<never> {
  return null as never;
}

const anew = ({ url }: RowRequest) => `${url}&nocache=true`;
const live = ({ url }: RowRequest) => url.replace('&platform=archive', '');

const situations: readonly Situation[] = [
  { name: '200', code: 200 },
  { name: '200 past the cache', code: 200, urlOf: anew },
  { name: 'HEAD', code: 200, request: { method: 'HEAD' } },
  {
    name: '304',
    code: 304,
    request: { headers: { 'if-none-match': '*' } },
  },
  { name: '400', code: 400, urlOf: ({ url }) => `${url}&format=xml` },
  { name: '404', code: 404, urlOf: ({ missingUrl }) => missingUrl },
  { name: '405', code: 405, invalidCode: 405, request: { method: 'DELETE' } },
  { name: '405 of OPTIONS', code: 405, invalidCode: 405, request: { method: 'OPTIONS' } },
  { name: '414', code: 414, invalidCode: 414, urlOf: ({ url }) => `${url}&x=${'a'.repeat(8200)}` },
  {
    name: '429',
    code: 429,
    options: { env: { PERCH_PUBLIC_ALLOWANCE: '1', PERCH_KEY_ALLOWANCE: '1' } },
    urlOf: anew,
    prepare: (app, headers) => app.request(search, { headers }),
  },
  { name: '500', code: 500, options: { providers: [broken] }, urlOf: live },
  { name: '503 of an upstream', code: 503, options: { providers: [down] }, urlOf: live },
  {
    name: '503 under load',
    code: 503,
    invalidCode: 503,
    options: { load: { isHigh: true, close: () => undefined } },
  },
  {
    name: '503 while draining',
    code: 503,
    invalidCode: 503,
    prepare: (app) => app.startDraining(),
  },
];

describe('the browse surface', () => {
  /** Checks that the reply of each row contains the key status of a caller in this situation. */
  async function expectStatusOf(status: CallerStatus, situation: Situation): Promise<void> {
    const { options, prepare, request, urlOf = ({ url }) => url } = situation;
    const { app, headers } = await openAsCaller(status, options);
    await prepare?.(app, headers);

    for (const one of browseRequests) {
      const url = urlOf(one);
      if (url === null) continue;
      const reply = await app.request(url, {
        ...request,
        headers: { ...headers, ...request?.headers },
      });
      const code = status === 'invalid' ? (situation.invalidCode ?? 401) : situation.code;
      expect([one.name, reply.statusCode]).toEqual([one.name, code]);
      expectStatus(reply, status);
    }
  }

  clause('read.key_status.anonymous', 'read.auth.echoes_key_status').each(situations)(
    'reports on every route that the caller is anonymous: $name',
    (situation) => expectStatusOf('anonymous', situation),
  );

  clause('read.key_status.valid', 'read.auth.echoes_key_status', 'read.auth.keyed_no_store').each(
    situations,
  )('reports on every route that the key is valid: $name', (situation) =>
    expectStatusOf('valid', situation),
  );

  clause('read.key_status.invalid', 'read.auth.keyed_no_store').each(situations)(
    'reports on every route that the key is invalid: $name',
    (situation) => expectStatusOf('invalid', situation),
  );

  clause('read.key_status.unverified', 'read.auth.unverified_soft_degradation').each(situations)(
    'reports on every route that the key is unverified: $name',
    (situation) => expectStatusOf('unverified', situation),
  );

  clause('read.auth.readable_without_key', 'read.key_status.unverified')(
    'returns the same body with a key, without one and while keys cannot be checked',
    async () => {
      const [keyed, outage] = [await openAsCaller('valid'), await openAsCaller('unverified')];

      for (const { url } of browseRequests) {
        const anonymous = await keyed.app.request(url);
        const replies = [
          await keyed.app.request(url, keyed),
          await outage.app.request(url, outage),
        ];
        expect(replies.map(({ body }) => body)).toEqual([anonymous.body, anonymous.body]);
        expect(replies.map(({ headers }) => headers.etag)).toEqual([
          anonymous.headers.etag,
          anonymous.headers.etag,
        ]);
      }
    },
  );

  clause('read.auth.key_raises_search_allowance')(
    'accepts a key when the public allowance is exhausted',
    async () => {
      const { app, headers } = await openAsCaller('valid', {
        env: { PERCH_PUBLIC_ALLOWANCE: '1' },
      });
      const url = `${search}&nocache=true`;
      await app.request(url);

      const [anonymous, keyed] = [await app.request(url), await app.request(url, { headers })];

      expect([anonymous.statusCode, keyed.statusCode]).toEqual([429, 200]);
      expect(anonymous.headers['ratelimit-policy']).toBe('"public";q=1;w=60');
      expect(keyed.headers['ratelimit-policy']).toBe('"key";q=600;w=60');
    },
  );
});

describe('posts and oEmbed', () => {
  clause(
    'read.auth.permalink_post_ignores_key',
    'read.auth.v1_posts_ignores_key',
    'read.limits.conversion_unaffected_by_keys',
  ).each(postRequests)(
    'return the same for a valid key, an invalid key and none: $name',
    async ({ url, missingUrl }) => {
      const app = await buildTestApp();
      const { headers } = await app.createKey();
      const etag = String((await app.request(url)).headers.etag);
      const asked = [
        [url, {}],
        [url, { method: 'HEAD' }],
        [url, { headers: { 'if-none-match': etag } }],
        [url, { method: 'DELETE' }],
        [`${url}&nocache=true`, {}],
        [`${url}&format=pdf`, {}],
        [missingUrl ?? url, {}],
      ] as const;

      for (const [path, options] of asked) {
        const own = 'headers' in options ? options.headers : {};
        const plain = await app.request(path, options);
        for (const one of [headers, bearer(unknownKey), bearer(''), bearer('x'.repeat(5000))]) {
          const reply = await app.request(path, { ...options, headers: { ...own, ...one } });
          expect([reply.statusCode, reply.body]).toEqual([plain.statusCode, plain.body]);
          const left = ['ratelimit', 'x-cache'];
          expect(headersOf(reply, ...left)).toEqual(headersOf(plain, ...left));
          expect(reply.headers['x-api-key-status']).toBeUndefined();
        }
      }
    },
  );
});

clause('read.key_status.four_values').each([
  '/health/live',
  '/health/ready',
  '/api',
  '/no/route',
  '/api/v1',
  '/docs',
  '/robots.txt',
])('sends no key status at %s', async (url) => {
  const { app, headers } = await openAsCaller('valid');
  const plain = await app.request(url);

  const reply = await app.request(url, { headers });

  expect([reply.statusCode, reply.body]).toEqual([plain.statusCode, plain.body]);
  expect(headersOf(reply)).toEqual(headersOf(plain));
  expect(reply.headers['x-api-key-status']).toBeUndefined();
  expect(reply.headers['ratelimit-policy']).toBeUndefined();
});
