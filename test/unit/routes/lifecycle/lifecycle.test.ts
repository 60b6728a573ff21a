import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../../../src/lib/http/url.ts';
import { scheduledLifecycle } from '../../../../src/lib/lifecycle.ts';
import { reads } from '../../../../src/reads/index.ts';
import { describeApi } from '../../../../src/routes/discovery/api-description.ts';
import { toLifecycleHeaders } from '../../../../src/routes/lifecycle/lifecycle.ts';
import {
  type AliasRoute,
  aliasRoutes,
  chooseRead,
  findRead,
  pickParameters,
  readRoutes,
  routes,
} from '../../../../src/routes/reads/routes.ts';
import { clause } from '../../../support/clause.ts';
import { discoveryFacts } from '../../../support/discovery-facts.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { expectSignals } from '../../../support/signals.ts';

const baseUrl = 'https://perch.test';
const [convert, browse] = aliasRoutes as readonly [AliasRoute, AliasRoute];

function signalsOf(route: AliasRoute, query: string, base = baseUrl) {
  const headers = toLifecycleHeaders(route, `${route.path}${query}`, base);
  if (headers === null) throw new Error('An alias has a lifecycle.');
  return { ...expectSignals({ ...headers }), size: headers.link.length };
}

const successorOf = (route: AliasRoute, query: string) => signalsOf(route, query).successor;

describe('the route table', () => {
  clause('read.versioning.sunset_not_before_deprecation')(
    'has no sunset before its deprecation, and whole seconds',
    () => {
      for (const { lifecycle } of routes) {
        if (lifecycle === null) continue;
        expect(lifecycle.sunsetMs).toBeGreaterThanOrEqual(lifecycle.deprecationMs);
        expect([lifecycle.sunsetMs % 1000, lifecycle.deprecationMs % 1000]).toEqual([0, 0]);
      }
    },
  );

  clause('read.versioning.scheduled_convert_and_browse', 'read.versioning.nothing_else_deprecated')(
    'deprecates two routes, with the same dates',
    () => {
      const scheduled = routes.filter(({ lifecycle }) => lifecycle !== null);

      expect(scheduled.map(({ id, path, lifecycle }) => [id, path, lifecycle])).toEqual([
        ['getPostLegacy', '/api/convert', scheduledLifecycle],
        ['browseLegacy', '/api/browse', scheduledLifecycle],
      ]);
    },
  );

  it('has one v1 route for each read of an alias', () => {
    const asked = aliasRoutes.flatMap(({ read }) =>
      typeof read === 'string' ? [read] : Object.values(read.reads),
    );

    for (const id of asked) {
      const rows = readRoutes.filter(({ surface, read }) => surface === 'v1' && read === id);
      expect(rows.map(({ read }) => read)).toEqual([id]);
    }
  });

  it('has a unique id and path for each route', () => {
    expect(new Set(routes.map(({ id }) => id)).size).toBe(routes.length);
    expect(new Set(routes.map(({ path }) => path)).size).toBe(routes.length);
  });
});

describe('the read of a request to an alias', () => {
  clause('read.aliases.browse_resource_values').each([
    ['resource=profile&handle=a', 'getProfile'],
    ['resource=followers&handle=a', 'listFollowers'],
    ['resource=following&handle=a', 'listFollowing'],
    ['resource=search&q=a', 'searchPosts'],
    ['resource=SEARCH', 'searchPosts'],
    ['re%73ource=pr%6Ffile&handle=', 'getProfile'],
  ])('for %s is %s', (query, read) => {
    expect(chooseRead(browse, parseQuery(`?${query}`))).toBe(read);
  });

  it('is getPost at /api/convert', () => {
    expect(chooseRead(convert, parseQuery('?resource=profile'))).toBe('getPost');
  });

  it('gets only the parameters that it knows, without `resource`', () => {
    const query = parseQuery('?resource=search&q=a&q=b&handle=x&feed=top&key=k&constructor=1');

    expect(pickParameters('searchPosts', query)).toEqual({ q: ['a', 'b'], feed: 'top' });
    for (const read of Object.values(reads)) {
      expect(Object.keys(read.params.shape)).not.toContain('resource');
    }
  });
});

describe('the successor', () => {
  clause('read.aliases.convert', 'read.versioning.link_successor_version').each([
    ['', ''],
    ['?url=https://x.com/jack/status/20', '?url=https%3A%2F%2Fx.com%2Fjack%2Fstatus%2F20'],
    ['?handle=jack&id=20&format=json', '?handle=jack&id=20&format=json'],
    ['?key=perch_secret&url=a&utm_source=b', '?url=a'],
    ['?url=a&format=json&url=b', '?url=a&url=b&format=json'],
    ['?%75rl=a%20b+c%2Bd', '?url=a+b+c%2Bd'],
    ['?url=%E0%A4%A', '?url=%EF%BF%BD%25A'],
    ['?url=%', '?url=%25'],
    ['?url', '?url='],
    ['?url=a%0D%0ASet-Cookie:%20b', '?url=a%0D%0ASet-Cookie%3A+b'],
    ['?url=%3E%3B%20rel%3D%22x%22%2C', '?url=%3E%3B+rel%3D%22x%22%2C'],
    ['?url=é\ud800', '?url=%C3%A9%EF%BF%BD'],
    ['?__proto__=x&constructor=y&toString=z', ''],
    ['?resource=profile', ''],
  ])('of /api/convert%s carries the known parameters', (query, carried) => {
    expect(successorOf(convert, query)).toBe(`${baseUrl}/api/v1/posts${carried}`);
  });

  clause(
    'read.aliases.browse_profile_successor',
    'read.aliases.browse_followers_successor',
    'read.aliases.browse_following_successor',
  ).each([
    ['resource=profile&handle=ada.example', '/profiles/ada.example'],
    ['resource=PROFILE&handle=@Ada.Example', '/profiles/ada.example'],
    ['resource=followers&handle=jack&limit=5', '/profiles/jack/followers?limit=5'],
    ['resource=following&handle=%40jack&q=x', '/profiles/jack/following'],
    ['resource=profile&handle=anna@mastodon.social', '/profiles/anna%40mastodon.social'],
    [
      'resource=profile&handle=did:plc:abcdefghijklmnopqrstuvwx&until=1',
      '/profiles/did%3Aplc%3Aabcdefghijklmnopqrstuvwx?until=1',
    ],
  ])('of /api/browse?%s is the route of the resource', (query, successor) => {
    expect(successorOf(browse, `?${query}`)).toBe(`${baseUrl}/api/v1${successor}`);
  });

  clause('read.aliases.browse_search_successor').each([
    ['resource=search&q=%23Bird+Diary&feed=users', '/search?q=%23Bird+Diary&feed=users'],
    ['resource=search', '/search'],
    ['resource=search&q=a&q=b&handle=jack&key=k', '/search?q=a&q=b'],
  ])('of /api/browse?%s is the route of the resource', (query, successor) => {
    expect(successorOf(browse, `?${query}`)).toBe(`${baseUrl}/api/v1${successor}`);
  });

  clause('read.versioning.link_successor_safe_to_follow')(
    'has no query if it would be longer than 2048 bytes',
    () => {
      const bare = `${baseUrl}/api/v1/posts`;
      const room = 2048 - `${bare}?url=`.length;

      const [whole, tooLong] = [room, room + 1].map((length) =>
        successorOf(convert, `?url=${'a'.repeat(length)}`),
      );

      expect(whole).toHaveLength(2048);
      expect(tooLong).toBe(bare);
      expect(successorOf(browse, `?resource=search&q=${'é'.repeat(400)}`)).toBe(
        `${baseUrl}/api/v1/search`,
      );
    },
  );
});

describe('the headers of a lifecycle', () => {
  clause('read.versioning.link_deprecation', 'read.versioning.link_sunset')(
    'link to the HTML policy under the base URL',
    () => {
      for (const base of [baseUrl, 'http://[::1]:8080/read/perch']) {
        const { links, successor } = signalsOf(convert, '?url=a', base);
        const policy = { uri: `${base}/docs/versioning`, type: 'text/html' };

        expect(successor).toBe(`${base}/api/v1/posts?url=a`);
        expect(links.slice(1)).toEqual([
          { ...policy, rel: 'deprecation' },
          { ...policy, rel: 'sunset' },
        ]);
      }
    },
  );

  it('have dates but no successor for a v1 route with a lifecycle', () => {
    const [row] = readRoutes;
    if (row === undefined) throw new Error('The table has rows.');

    const headers = toLifecycleHeaders({ ...row, lifecycle: scheduledLifecycle }, '', baseUrl);

    expect(expectSignals({ ...headers }).successor).toBeNull();
  });

  clause('read.versioning.three_signals_every_response')(
    'are valid for any URL',
    () => {
      const piece = fc.oneof(
        fc.constantFrom(
          ...['resource', 'handle', 'url', 'q', 'profile', 'search', 'jack', '@a.example'],
          ...['=', '&', '?', '#', '%', '%0d%0a', '%00', '%ff', '%f0%9f', '+', '<', '>', ';', '"'],
          ...['__proto__', 'constructor', '\\', ',', '\u0000', '\r\n', '\ud800', 'é', '🐦', ' '],
        ),
        fc.string({ unit: 'binary', maxLength: 40 }),
      );
      const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
      const long = fc.tuple(text, fc.nat(200)).map(([one, times]) => one.repeat(times));
      const start = fc.constantFrom(
        ...['', 'url=', 'resource=search&q=', 'resource=profile&handle=jack&limit='],
      );
      const url = fc
        .tuple(start, fc.oneof(text, long))
        .map((parts) => `?${parts.join('')}`.slice(0, 8192));

      fc.assert(
        fc.property(fc.constantFrom(convert, browse), url, (route, query) => {
          const { successor, links, size } = signalsOf(route, query);

          expect(size).toBeLessThan(2500);
          expect(links).toHaveLength(successor === null ? 2 : 3);
          for (const { uri } of links) {
            expect(uri).toMatch(/^https:\/\/perch\.test\/[\w!$&'()*+,./:;=?@~%-]*$/);
            expect(new URL(uri).href).toBe(uri);
          }
          expectSameParameters(route, query, successor);
        }),
        { numRuns: runs(500) },
      );
    },
    60_000,
  );
});

function expectSameParameters(route: AliasRoute, query: string, successor: string | null): void {
  const given = parseQuery(query);
  const read = findRead(route, given);
  if (read === null || successor === null) return;
  const { handle, ...others } = pickParameters(read, given);
  const kept = new URL(successor).pathname.includes('/profiles/') ? others : { handle, ...others };
  const carried = parseQuery(successor);
  if (Object.keys(carried).length === 0) return;
  expect({ ...carried }).toEqual(wellFormed(kept));
}

/** Replaces unpaired surrogates, which have no encoding, by the replacement character. */
function wellFormed(query: object): object {
  return JSON.parse(JSON.stringify(query), (_, value) =>
    typeof value === 'string' ? Buffer.from(value).toString() : value,
  );
}

it('the description of the service lists every route once, by surface, with its parameters', () => {
  const described = describeApi(discoveryFacts, 0).surfaces.flatMap((surface) =>
    surface.routes.map((route) => ({ ...route, surface: surface.name })),
  );

  expect(described.map(({ operation_id: id, path, surface }) => ({ id, path, surface }))).toEqual(
    routes.map(({ id, path, surface }) => ({ id, path, surface })),
  );
  const parameters = Object.fromEntries(
    described.map(({ operation_id: id, parameters: names }) => [id, names]),
  );
  expect(parameters.getPost?.slice(0, 3)).toEqual(['url', 'handle', 'id']);
  expect(parameters.getPostByPermalink).toEqual(
    parameters.getPost?.filter((name) => name !== 'url'),
  );
  expect(parameters.getPostPhotoByPermalink?.slice(0, 3)).toEqual(['handle', 'id', 'n']);
  expect(parameters.browseLegacy?.slice(0, 2)).toEqual(['resource', 'handle']);
  expect(parameters.browseLegacy).toContain('q');
  for (const names of Object.values(parameters)) expect(names).toEqual([...new Set(names)]);
});
