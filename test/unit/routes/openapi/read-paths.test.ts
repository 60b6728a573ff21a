import { describe, expect, it } from 'vitest';
import { Problem } from '../../../../src/lib/problem.ts';
import { createCursorCodec } from '../../../../src/reads/cursor.ts';
import { reads } from '../../../../src/reads/index.ts';
import type { ParsedRead } from '../../../../src/reads/read.ts';
import {
  describeOperationLifecycle,
  describeParameters,
  type ParameterObject,
} from '../../../../src/routes/openapi/read-paths.ts';
import {
  aliasRoutes,
  type ReadRoute,
  readRoutes,
  routes,
} from '../../../../src/routes/reads/routes.ts';

const context = {
  baseUrl: 'https://perch.test',
  xMirrors: [],
  mastodonSearchHost: 'mastodon.social',
  cursors: createCursorCodec(Buffer.alloc(32)),
  searchPlatform: 'x',
  embedSeconds: 60,
} as const;

/** Minimal valid parameters of each read. */
const least: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getPost: { handle: 'jack', id: '20' },
  listReplies: { id: '20' },
  getProfile: { handle: 'jack' },
  listFollowers: { handle: 'jack' },
  listFollowing: { handle: 'jack' },
  searchPosts: { q: 'heron' },
  getOEmbed: { url: 'https://x.com/jack/status/20' },
};

interface Case {
  readonly route: ReadRoute;
  readonly parameter: ParameterObject;
  readonly title: string;
}

const cases: readonly Case[] = readRoutes
  .filter(({ surface }) => surface === 'v1')
  .flatMap((route) =>
    describeParameters(route).map((parameter) => ({
      route,
      parameter,
      title: `${parameter.name} of ${route.id}`,
    })),
  );

function parse({ route: { read } }: Case, given: Readonly<Record<string, string>>): ParsedRead {
  return reads[read].parse({ ...least[read], ...given }, context);
}

function schemaOf(id: string, name: string): unknown {
  const route = routes.find((row) => row.id === id);
  if (route === undefined) throw new Error(`No route ${id}.`);
  return describeParameters(route).find((one) => one.name === name)?.schema;
}

/** Returns values that a schema allows, as in a query. */
function allowedBy(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const { anyOf, enum: values, type, format, minimum, maximum } = schema;
  if (Array.isArray(anyOf)) return anyOf.flatMap(allowedBy);
  if (Array.isArray(values)) return values.map(String);
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'integer') return [minimum, maximum ?? 1000].map(String);
  if (format === 'date') return ['2026-01-31'];
  if (format === 'date-time') return ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00'];
  return [];
}

describe('the schema of a parameter', () => {
  const limited = cases.filter(({ parameter }) => allowedBy(parameter.schema).length > 0);

  it.each(limited)('accepts what the read accepts: $title', (one) => {
    for (const value of allowedBy(one.parameter.schema)) {
      expect(parse(one, { [one.parameter.name]: value }).plan.key).not.toBe('');
    }
  });

  it.each(limited)('rejects other values: $title', (one) => {
    for (const value of ['zzz', '-1', '']) {
      expect(() => parse(one, { [one.parameter.name]: value })).toThrow(Problem);
    }
  });

  const withDefault = cases.filter(({ parameter }) => Object.hasOwn(parameter.schema, 'default'));

  it.each(withDefault)('has the default of the read: $title', (one) => {
    const { name, schema } = one.parameter;

    const [left, given] = [parse(one, {}), parse(one, { [name]: String(schema.default) })];

    expect([given.plan.key, given.views, given.format]).toEqual([
      left.plan.key,
      left.views,
      left.format,
    ]);
  });

  it('describes values more precisely than as text', () => {
    expect(schemaOf('getPost', 'thread')).toEqual({
      anyOf: [
        { type: 'string', enum: ['off', 'full', 'conversation', 'whole'] },
        { type: 'integer', minimum: 2, maximum: 100 },
      ],
      default: 'full',
    });
    expect(schemaOf('getPost', 'format')).toEqual({
      type: 'string',
      enum: ['markdown', 'json', 'obsidian', 'html', 'atom', 'rss', 'jsonfeed'],
    });
    expect(schemaOf('getProfile', 'include_posts')).toEqual({ type: 'boolean', default: true });
    expect(schemaOf('searchPosts', 'feed')).toEqual({
      type: 'string',
      enum: ['latest', 'top', 'photos', 'videos', 'users', 'media'],
      default: 'latest',
    });
    expect(schemaOf('listFollowers', 'limit')).toEqual({
      type: 'integer',
      minimum: 1,
      default: 20,
    });
    expect(schemaOf('listFollowers', 'page')).toEqual({ type: 'integer', minimum: 1, maximum: 10 });
    expect(schemaOf('browseLegacy', 'resource')).toEqual({
      type: 'string',
      enum: ['profile', 'followers', 'following', 'search'],
    });
  });
});

describe('a required parameter', () => {
  it.each(cases.filter(({ parameter }) => parameter.required))(
    'is an error if it is missing: $title',
    ({ route: { read }, parameter }) => {
      const { [parameter.name]: _left, ...others } = least[read] ?? {};

      expect(() => reads[read].parse(others, context)).toThrow(Problem);
    },
  );

  it('is listed for each read that requires it', () => {
    const names = cases.filter(({ parameter }) => parameter.required).map(({ title }) => title);

    expect(names).toEqual([
      'id of listReplies',
      'handle of getProfile',
      'handle of listFollowers',
      'handle of listFollowing',
      'q of searchPosts',
      'url of getOEmbed',
    ]);
  });

  it('selects the read of an alias', () => {
    const required = routes
      .filter(({ surface }) => surface === 'alias')
      .flatMap((route) => describeParameters(route).filter((one) => one.required));

    expect(required.map(({ name }) => name)).toEqual(['resource']);
  });
});

it('names the resources of an alias that accept an option', () => {
  const alias = routes.find(({ id }) => id === 'browseLegacy');
  if (alias === undefined) throw new Error('No such alias.');
  const described = new Map(describeParameters(alias).map((one) => [one.name, one.description]));

  expect(described.get('q')).toMatch(/ Only for `search`\.$/);
  expect(described.get('handle')).toMatch(/ Only for `profile`, `followers`, `following`\.$/);
  expect(described.get('limit')).not.toContain('Only for');
});

const facts = { baseUrl: 'https://perch.test', version: '1.2.3' };

it('omits the lifecycle state without a time', () => {
  const told = aliasRoutes.map((route) =>
    describeOperationLifecycle(route, { ...facts, nowMs: null }),
  );

  expect(told).toEqual([
    { deprecated: true, 'x-successor-version': '/api/v1/posts' },
    {
      deprecated: true,
      'x-successor-version-map': {
        profile: '/api/v1/profiles/{handle}',
        followers: '/api/v1/profiles/{handle}/followers',
        following: '/api/v1/profiles/{handle}/following',
        search: '/api/v1/search',
      },
    },
  ]);
});
