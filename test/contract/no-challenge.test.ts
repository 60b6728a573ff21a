import type { LightMyRequestResponse } from 'fastify';
import { describe, expect } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { routes } from '../../src/routes/reads/routes.ts';
import { asAdmin, buildTestApp, shareTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { exchange, listen } from '../support/listen.ts';
import { browseRequests, postRequests, type RowRequest } from '../support/row-requests.ts';

const app = shareTestApp();
const rows = [...browseRequests, ...postRequests];

/** What begins or continues a challenge (RFC 9110 §11). */
const challenges = ['www-authenticate', 'proxy-authenticate', 'authentication-info'];

/** What a client may try that takes the service for one with sign-in. */
const attempts: readonly (readonly [string, Record<string, string>])[] = [
  ['no credentials', {}],
  ['an unknown key', { authorization: 'Bearer perch_unknown' }],
  ['an empty key', { authorization: 'Bearer' }],
  ['Basic', { authorization: 'Basic YWRhOnNlY3JldA==' }],
  ['Digest', { authorization: 'Digest username="ada", realm="", nonce="", response=""' }],
  ['Negotiate', { authorization: 'Negotiate YII=' }],
  ['a scheme that is none', { authorization: '?' }],
  ['a long value', { authorization: `Bearer ${'x'.repeat(5000)}` }],
  ['proxy credentials', { 'proxy-authorization': 'Basic YWRhOnNlY3JldA==' }],
];

/** Where other services have sign-in, registration, tokens, keys for the asking, or events. */
const foreignPaths = [
  '/login',
  '/signin',
  '/sign-in/start',
  '/auth/login',
  '/oauth/authorize',
  '/oauth/token',
  '/oauth2/token',
  '/oauth/revoke',
  '/oauth/register',
  '/oauth/device/code',
  '/api/auth',
  '/api/login',
  '/api/token',
  '/api/keys',
  '/api/register',
  '/api/account',
  '/api/claim',
  '/api/v1/auth',
  '/api/v1/keys',
  '/api/v1/keys/refresh',
  '/api/v1/token',
  '/api/v1/tokens/revoke',
  '/api/v1/register',
  '/api/v1/account',
  '/api/v1/identity',
  '/api/v1/verify',
];

/** Where security event tokens would be sent to, or asked for (RFC 8935, RFC 8936). */
const eventPaths = [
  '/api/events',
  '/api/v1/events',
  '/api/v1/security-events',
  '/api/ssf/streams',
  '/.well-known/ssf-configuration',
  '/.well-known/sse-configuration',
];

/** Where clients look for OAuth (RFC 8414, RFC 9728, OpenID Connect Discovery). */
const oauthPaths = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server',
];
const otherOauthPaths = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource/api/v1',
  '/.well-known/oauth-authorization-server/mcp',
  '/.well-known/openid-configuration',
  '/.well-known/openid-federation',
  '/.well-known/jwks.json',
  '/.well-known/webfinger',
  '/.well-known/agent-auth',
];

/** The members and words by which OAuth and its relatives are found. */
const oauthWords =
  /agent_auth|(?:identity|claim|events|token|revocation|authorization|registration|introspection)_endpoint|authorization_server|resource_metadata|user_code|device_code|verification_uri|claim_token|jwks|oauth|id-jag|openid/i;

interface Asked {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

function ask({ url, missingUrl }: RowRequest): readonly Asked[] {
  return [
    { url },
    { url, method: 'HEAD' },
    { url, headers: { 'if-none-match': '*' } },
    { url: `${url}&format=pdf` },
    { url: missingUrl ?? '/no/route' },
    { url, method: 'POST' },
    { url, method: 'OPTIONS' },
    { url: `${url}&nocache=true` },
    { url: `${url}&x=${'a'.repeat(8200)}` },
  ];
}

function expectNoChallenge({ headers }: LightMyRequestResponse): void {
  for (const name of challenges) expect(headers[name]).toBeUndefined();
}

/** Breaks the contract of providers, so that reads fail over it. */
const broken: Provider = {
  name: 'broken',
  platforms: ['x'],
  reads: new Set(['search']),
  covers: () => true,
  fetch: { search: async () => null as never },
};

describe('the read service', () => {
  clause('read.auth.no_www_authenticate', 'read.auth.errors_no_www_authenticate').each(attempts)(
    'sends no WWW-Authenticate: %s',
    async (_, headers) => {
      const app = await buildTestApp({ env: { PERCH_PUBLIC_ALLOWANCE: '20' } });
      const codes = new Set<number>();
      for (const row of rows) {
        for (const { url, ...rest } of ask(row)) {
          const reply = await app.request(url, {
            ...rest,
            headers: { ...rest.headers, ...headers },
          });
          codes.add(reply.statusCode);
          expectNoChallenge(reply);
        }
      }
      // What is meant to be walked was walked.
      expect([...codes]).toEqual(expect.arrayContaining([200, 304, 400, 404, 405, 414]));
    },
  );

  clause('read.auth.errors_no_www_authenticate').each([429, 500, 503])(
    'sends no WWW-Authenticate with %s',
    async (code) => {
      const load = { isHigh: code === 503, close: () => undefined };
      const app = await buildTestApp({
        load,
        env: { PERCH_PUBLIC_ALLOWANCE: '1' },
        ...(code === 500 ? { providers: [broken] } : {}),
      });
      const url = '/search?q=heron&nocache=true';
      const first = await app.request(code === 429 ? `${url}&platform=archive` : url);

      const reply = code === 429 ? await app.request(`${url}&platform=archive`) : first;

      expect(reply.statusCode).toBe(code);
      expectNoChallenge(reply);
    },
  );

  clause('read.auth.errors_no_www_authenticate', 'read.errors.never_oauth_invitation')(
    'sends no WWW-Authenticate on operator routes',
    async () => {
      for (const url of ['/api/admin/keys', '/api/admin/keys/x', '/api/admin', '/admin']) {
        // A server that knows of no failed tries yet: it would make the later ones wait.
        const app = await buildTestApp();
        for (const [, headers] of attempts) {
          const reply = await app.server.inject({ url, headers });
          expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
          expectNoChallenge(reply);
          expect(reply.json().resolution).toContain('/openapi.json');
          expect(reply.body).not.toMatch(oauthWords);
        }
      }
    },
  );

  clause('read.auth.errors_no_www_authenticate').each([
    'NONSENSE\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    'CONNECT a:443 HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic eA==\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${'x'.repeat(20_000)}\r\n\r\n`,
    'GET /%E0%A4%A HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  ])('sends no WWW-Authenticate for invalid HTTP: %j', async (bytes) => {
    const { port } = await listen();

    const received = await exchange(port, [bytes]);

    expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
    for (const name of challenges) expect(received.toLowerCase()).not.toContain(name);
  });
});

clause('read.errors.never_oauth_invitation', 'read.errors.invalid_key')(
  'a 401 points to anonymous reads, and not to OAuth',
  async () => {
    for (const { url } of browseRequests) {
      const reply = await app.request(url, { headers: { authorization: 'Bearer perch_x' } });

      expect([reply.statusCode, reply.json().code]).toEqual([401, 'invalid_key']);
      expect(reply.json().resolution).toMatch(/send requests without a key/);
      expect(reply.body).not.toMatch(oauthWords);
      expect(JSON.stringify(reply.headers)).not.toMatch(oauthWords);
      // And what it leads to is there.
      expect((await app.request(url)).statusCode).toBe(200);
    }
  },
);

describe('OAuth', () => {
  clause(
    'read.errors.route_not_found_oauth',
    'read.discovery.protected_resource_not_served',
    'read.discovery.authorization_server_not_served',
  ).each(oauthPaths)('has no metadata at %s, for any caller and method', async (url) => {
    const app = await buildTestApp();
    const key = await app.createKey();
    const headers = [...attempts.map(([, one]) => one), key.headers, asAdmin];
    for (const one of headers) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const reply = await app.request(`${url}?x=1`, { method, headers: one });
        expect(reply.statusCode).toBe(404);
        if (method !== 'HEAD') expect(reply.json().code).toBe('route_not_found');
      }
    }
    const accepted = await app.request(url, { headers: { accept: 'application/json' } });
    expect(accepted.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(accepted.json().resolution).toMatch(/\/api`.*\/openapi\.json/);
  });

  clause('read.auth.no_oauth_discovery', 'read.auth.no_agent_auth').each(otherOauthPaths)(
    'has no metadata at %s either',
    async (url) => {
      expect((await app.request(url)).json().code).toBe('route_not_found');
    },
  );

  clause(
    'read.auth.no_agent_auth',
    'read.auth.no_oauth_endpoints',
    'read.auth.no_claims_or_user_codes',
  )('is not mentioned in any description or route', async () => {
    const description = await app.request('/api');

    expect(description.statusCode).toBe(200);
    expect(description.body).not.toMatch(oauthWords);
    expect(JSON.stringify(description.headers)).not.toMatch(oauthWords);
    expect(JSON.stringify(routes)).not.toMatch(oauthWords);
  });

  clause('read.auth.no_claims_or_user_codes')(
    'is not mentioned in replies of any route',
    async () => {
      for (const { url, missingUrl } of rows) {
        for (const path of [`${url}&format=json`, missingUrl ?? '/no/route', `${url}&format=pdf`]) {
          const { body, headers } = await app.request(path);
          expect(`${body}${JSON.stringify(headers)}`).not.toMatch(oauthWords);
        }
      }
    },
  );
});

describe('a feature of other services', () => {
  async function expectNoRoute(url: string, contentType: string, payload: string): Promise<void> {
    const app = await buildTestApp();

    const reply = await app.request(url, {
      method: 'POST',
      headers: { 'content-type': contentType },
      payload,
    });

    // One segment alone is a handle, which can be read and nothing else.
    const code = url.split('/').length === 2 ? 'method_not_allowed' : 'route_not_found';
    expect(reply.json().code).toBe(code);
    expect(reply.body).not.toContain('perch_');
  }

  clause('read.auth.no_identity_assertion', 'read.auth.no_oauth_endpoints').each(foreignPaths)(
    'does not accept assertions: %s',
    (url) =>
      expectNoRoute(
        url,
        'application/x-www-form-urlencoded',
        'grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=eyJhbGciOiJub25lIn0.e30.',
      ),
  );

  clause(
    'read.auth.no_email_registration',
    'read.auth.agent_cannot_obtain_key',
    'read.auth.key_not_self_service',
  ).each(foreignPaths)('does not register clients: %s', (url) =>
    expectNoRoute(url, 'application/json', '{"email":"ada@example.org"}'),
  );

  clause('read.events.no_events_endpoint', 'read.events.no_security_event_tokens').each(eventPaths)(
    'does not exist: %s',
    async (url) => {
      const app = await buildTestApp();
      const token = {
        headers: { 'content-type': 'application/secevent+jwt', accept: 'application/json' },
        payload: 'eyJ0eXAiOiJzZWNldmVudCtqd3QiLCJhbGciOiJub25lIn0.e30.',
      };

      const replies = [
        await app.request(url),
        await app.request(url, { method: 'POST', ...token }),
      ];

      for (const reply of replies) expect(reply.json().code).toBe('route_not_found');
    },
  );

  clause('read.events.no_security_event_tokens')(
    'does not exist: no reply is an event token or links to one',
    async () => {
      const accept = 'application/secevent+jwt';
      for (const { url } of rows) {
        const reply = await app.request(url, { headers: { accept } });
        expect(reply.headers['content-type']).toMatch(/^(?:text\/markdown|application\/json);/);
      }
      expect((await app.request('/api')).body).not.toMatch(/secevent|events_endpoint|\/events/);
    },
  );
});
