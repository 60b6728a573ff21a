import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { asAdmin, buildTestApp, type TestApp, type TestKey } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import {
  bearer,
  expectStatus,
  openAsCaller,
  readHeads,
  unknownKey,
} from '../support/key-callers.ts';
import { exchange, listen } from '../support/listen.ts';
import { browseRequests } from '../support/row-requests.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const search = '/search?q=heron&platform=archive&format=json';
const profile = '/ada.example?format=json';

describe('the key status', () => {
  clause('read.key_status.per_request_not_stored')(
    'belongs to one request, regardless of its connection',
    async () => {
      const { app, port } = await listen();
      const { key } = await app.createKey();
      const keys = [null, key, null, unknownKey, key, 'perch_', null];
      const requests = keys.map((one, index) => {
        const field = one === null ? '' : `Authorization: Bearer ${one}\r\n`;
        const last = index === keys.length - 1 ? 'Connection: close\r\n' : '';
        return `HEAD ${search} HTTP/1.1\r\nHost: localhost\r\n${field}${last}\r\n`;
      });

      const heads = readHeads(await exchange(port, [requests.join('')]));

      expect(heads.map(({ code, fields }) => [code, fields.get('x-api-key-status')])).toEqual([
        [200, 'anonymous'],
        [200, 'valid'],
        [200, 'anonymous'],
        [401, 'invalid'],
        [200, 'valid'],
        [401, 'invalid'],
        [200, 'anonymous'],
      ]);
    },
  );

  clause('read.auth.key_no_expiry', 'read.auth.key_no_refresh_or_rotation')(
    'is the same after years, and no reply issues another key',
    async () => {
      const { app, headers } = await openAsCaller('valid');
      for (let year = 0; year < 10; year += 1) {
        await app.advance(365 * 86_400_000);

        const reply = await app.request(search, { headers });

        expectStatus(reply, 'valid');
        expect(`${reply.body}${JSON.stringify(reply.headers)}`).not.toContain('perch_');
      }
    },
  );
});

describe('a revoked key', () => {
  const ways: readonly (readonly [string, (app: TestApp, key: TestKey) => Promise<unknown>])[] = [
    ['disabled', (app, { id }) => administer(app, id, 'PATCH', '{"enabled":false}')],
    ['deleted', (app, { id }) => administer(app, id, 'DELETE')],
  ];

  async function administer(app: TestApp, id: string, method: 'PATCH' | 'DELETE', payload = '{}') {
    const headers = { ...asAdmin, 'content-type': 'application/json' };
    const url = `/api/admin/keys/${id}`;
    const reply = await app.server.inject({ url, method, headers, payload });
    expect(reply.statusCode).toBe(method === 'PATCH' ? 200 : 204);
  }

  clause(
    'read.key_moves.disable_rejects_immediately',
    'read.key_moves.delete_rejects_immediately',
    'read.errors.invalid_key',
  ).each(ways)('is rejected at the next request: %s', async (_, take) => {
    const app = await buildTestApp();
    for (const { url } of browseRequests) {
      const key = await app.createKey();
      expect((await app.request(url, key)).statusCode).toBe(200);
      const etag = (await app.request(url)).headers.etag;
      await take(app, key);

      const replies = [
        await app.request(url, key),
        await app.request(url, { headers: { ...key.headers, 'if-none-match': String(etag) } }),
        await app.request(url, { ...key, method: 'HEAD' }),
      ];

      for (const reply of replies) {
        expect(reply.statusCode).toBe(401);
        expectStatus(reply, 'invalid');
      }
      const { code, resolution } = replies[0]?.json() ?? {};
      expect(code).toBe('invalid_key');
      expect(resolution).toMatch(
        /remove the `Authorization` header to send requests without a key/i,
      );
      expect(resolution).toMatch(/ask the operator for a new key/);
      expect(resolution).toMatch(/do not retry with the same key/i);
    }
  });

  clause('read.auth.central_revocation', 'read.auth.disabled_key_rejected').each(ways)(
    'is rejected by every server on the same store: %s',
    async (_, take) => {
      const env = { PERCH_DATA_DIR: temporaryFolder() };
      const [here, there] = [await buildTestApp({ env }), await buildTestApp({ env })];
      const key = await here.createKey();
      expectStatus(await there.request(search, key), 'valid');

      await take(here, key);

      expectStatus(await there.request(search, key), 'invalid');
      expectStatus(await here.request(search, key), 'invalid');
    },
  );

  clause('read.key_status.valid')('is valid again when it is enabled', async () => {
    const app = await buildTestApp();
    const key = await app.createKey();
    await administer(app, key.id, 'PATCH', '{"enabled":false}');
    expectStatus(await app.request(search, key), 'invalid');

    await administer(app, key.id, 'PATCH', '{"enabled":true}');

    expectStatus(await app.request(search, key), 'valid');
  });
});

describe('an unreadable key store', () => {
  const faults: readonly (readonly [string, (path: string) => void])[] = [
    ['deleted', (path) => rmSync(path)],
    [
      'replaced by a directory',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ];
  clause('read.key_status.unverified', 'read.auth.unverified_soft_degradation').each(faults)(
    'does not affect reads, and is used again when it is readable: %s',
    async (_, harm) => {
      const folder = temporaryFolder();
      const [path, copy] = [`${folder}/perch.db`, `${folder}/copy.db`];
      const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });
      const key = await app.createKey();
      copyFileSync(path, copy);

      harm(path);
      const during = [
        await app.request(search, key),
        await app.request(profile, { headers: bearer(unknownKey) }),
        await app.request(search),
      ];
      rmSync(path, { recursive: true, force: true });
      copyFileSync(copy, path);
      await app.advance(1000);
      const after = [
        await app.request(search, key),
        await app.request(profile, { headers: bearer(unknownKey) }),
      ];

      const keyed = during.slice(0, 2);
      expect(during.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
      for (const reply of keyed) expectStatus(reply, 'unverified');
      for (const reply of during.slice(2)) expectStatus(reply, 'anonymous');
      expect(keyed[0]?.headers['ratelimit-policy']).toBe('"public";q=60;w=60');
      expect(after.map(({ headers }) => headers['x-api-key-status'])).toEqual(['valid', 'invalid']);
    },
  );

  clause('read.key_status.unverified')('charges the address instead of the key', async () => {
    const { app, headers } = await openAsCaller('unverified', {
      env: { PERCH_PUBLIC_ALLOWANCE: '2' },
    });
    const url = `${search}&nocache=true`;
    await app.request(url, { headers });
    await app.request(url);

    const replies = [await app.request(url, { headers }), await app.request(url)];

    expect(replies.map(({ statusCode }) => statusCode)).toEqual([429, 429]);
  });
});
