import { describe, expect } from 'vitest';
import { z } from 'zod';
import { buildTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { expectSignals } from '../support/signals.ts';

const dates = {
  deprecation: '@1789430400',
  sunset: 'Wed, 15 Sep 2027 00:00:00 GMT',
  deprecation_iso: '2026-09-15T00:00:00Z',
  sunset_iso: '2027-09-15T00:00:00Z',
};

/** What a client reads of an alias: one of the two shapes, and nothing that it does not know. */
const alias = z
  .object({ path: z.string(), deprecation_iso: z.iso.datetime(), sunset_iso: z.iso.datetime() })
  .and(
    z.union([
      z.object({ successor: z.string() }),
      z.object({
        successor_parameter: z.string(),
        successors: z.record(z.string(), z.string()),
      }),
    ]),
  );

describe('/api', () => {
  clause('read.discovery.api_description', 'read.versioning.v1_current')(
    'describes the service and its version',
    async () => {
      const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://perch.test/read' } });

      const reply = await app.request('/api');

      expect(reply.statusCode).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=60',
        etag: expect.stringMatching(/^"[\w-]{27}"$/),
      });
      expect(reply.headers.vary).toBe('Accept, Accept-Encoding');
      expect(reply.json()).toMatchObject({
        name: 'Perch',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        base_url: 'https://perch.test/read',
      });
      expect(reply.json().versioning).toEqual({
        current: 'v1',
        base_path: '/api/v1',
        policy_url: 'https://perch.test/read/docs/versioning',
        deprecated_aliases: expect.any(Array),
      });
    },
  );

  clause(
    'read.lifecycle_object.api_versioning_repeats_dates',
    'read.lifecycle_object.api_versioning_same_shapes',
    'read.versioning.scheduled_convert_and_browse',
  )('lists the aliases with their dates and both forms of a replacement', async () => {
    const app = await buildTestApp();

    const { versioning } = (await app.request('/api')).json();

    expect(versioning.deprecated_aliases).toEqual([
      { path: '/api/convert', ...dates, state: 'deprecated', successor: '/api/v1/posts' },
      {
        path: '/api/browse',
        ...dates,
        state: 'deprecated',
        successor_parameter: 'resource',
        successors: {
          profile: '/api/v1/profiles/{handle}',
          followers: '/api/v1/profiles/{handle}/followers',
          following: '/api/v1/profiles/{handle}/following',
          search: '/api/v1/search',
        },
      },
    ]);
  });

  clause('read.discovery.api_description')('lists existing routes', async () => {
    const app = await buildTestApp();
    const { surfaces } = (await app.request('/api')).json();
    const paths = surfaces.flatMap(({ routes }: { routes: { path: string }[] }) =>
      routes.map(({ path }) => path),
    );

    expect(paths).toContain('/api/v1/posts');
    // A new server has no file of an imported archive.
    for (const path of paths.filter((path: string) => !path.startsWith('/media/'))) {
      const url = path
        .replace('{handle}', 'ada.example')
        .replace('{id}', '1900000000000000001')
        .replace('{n}', '1')
        .replace('{page}', 'start')
        .replace('{group}', 'posts')
        .replace('{file}', 'favicon.svg');
      const reply = await app.request(url, { method: 'HEAD' });
      expect([path, reply.statusCode]).not.toEqual([path, 404]);
    }
  });

  clause(
    'read.lifecycle_object.clients_parse_both_shapes',
    'read.versioning.deprecation_future_date',
  )('describes each alias in one of two forms, with the dates of its headers', async () => {
    const app = await buildTestApp();
    const { versioning } = (await app.request('/api')).json();

    const aliases = z.array(alias).length(2).parse(versioning.deprecated_aliases);

    for (const { path, deprecation_iso, sunset_iso, ...how } of aliases) {
      const { headers } = await app.request(path, { method: 'HEAD' });
      const { deprecation, sunset } = expectSignals(headers);
      expect([deprecation, sunset]).toEqual([new Date(deprecation_iso), new Date(sunset_iso)]);
      const targets = 'successor' in how ? [how.successor] : Object.values(how.successors);
      for (const target of targets) expect(target).toMatch(/^\/api\/v1\//);
    }
  });

  clause('read.errors.route_not_found').each(['/API', '/api/v1', '/api/versioning'])(
    'does not create a route %s',
    async (path) => {
      const app = await buildTestApp();

      const reply = await app.request(path);

      expect(reply.json().code).toBe('route_not_found');
    },
  );
});
