import { readFileSync } from 'node:fs';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { scheduledLifecycle } from '../../src/lib/lifecycle.ts';
import { problemKinds } from '../../src/lib/problem.ts';
import { reads } from '../../src/reads/index.ts';
import { describeLifecycle } from '../../src/routes/lifecycle/lifecycle.ts';
import { aliasRoutes, readRoutes, routes } from '../../src/routes/reads/routes.ts';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { readSignals } from '../support/signals.ts';

const app = shareTestApp();
const baseUrl = 'http://localhost:8080';
const id = '1900000000000000001';
const url = encodeURIComponent(`${baseUrl}/ada.example/status/${id}`);
const policy = readFileSync('docs/versioning.md', 'utf8');

/** The sections of the policy by their headings, each without line breaks. */
const sections = Object.fromEntries(
  policy.split(/^## /m).map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return [heading, lines.join(' ').replaceAll(/ +/g, ' ')];
  }),
);

/** Fills a path of the table so that the sample answers it. */
function fill(path: string): string {
  const filled = path.replace('{handle}', 'ada.example').replace('{id}', id).replace('{n}', '1');
  const named = path.endsWith('/replies') ? '&handle=ada.example' : '';
  return `${filled}?url=${url}&q=heron&platform=archive${named}`;
}

describe('the policy', () => {
  const promise = sections['What does v1 promise?'];

  clause('read.versioning.v1_current', 'read.versioning.breaking_only_new_prefix')(
    'says that v1 is the current version, and that breaking changes get a new prefix',
    async () => {
      const next = await app.request('/api/v2/posts');

      expect(promise).toMatch(/`v1` .*current/);
      expect(promise).toMatch(/[Bb]reaking .*new prefix/);
      expect(describeLifecycle(baseUrl).supported_versions).toEqual(['v1']);
      expect(next.json().code).toBe('route_not_found');
      expect(routes.filter(({ path }) => /^\/api\/v(?!1\/)/.test(path))).toEqual([]);
    },
  );

  clause('read.limits.v1_twelve_months')(
    'promises twelve months after a successor, as the scheduled dates do',
    () => {
      const { deprecationMs, sunsetMs } = scheduledLifecycle;
      const inAYear = new Date(deprecationMs);
      inAYear.setUTCFullYear(inAYear.getUTCFullYear() + 1);

      expect(promise).toMatch(/`\/api\/v1` .*at least 12 months.* successor/);
      expect(describeLifecycle(baseUrl).minimum_support_window_months).toBe(12);
      expect(sunsetMs).toBeGreaterThanOrEqual(inAYear.getTime());
    },
  );

  const additive = sections['What can change within v1?'] ?? '';
  clause(
    'read.versioning.additive_query_parameters',
    'read.versioning.additive_fields',
    'read.versioning.additive_headers',
  ).each([
    ['a query parameter', /new optional query parameter/],
    ['a field', /new field in a JSON body/],
    ['a key of an object', /new key/],
    ['a header', /new response header/],
  ])('counts %s as additive', (_, pattern) => {
    expect(additive).toMatch(pattern);
    expect(additive).toContain('without a new version');
  });

  clause('read.versioning.additive_open_ended_values', 'read.versioning.additive_markdown').each([
    ['a value of an extensible set', /new value .*`source`/],
    ['other Markdown', /wording, order or layout of the Markdown/],
  ])('counts %s as additive', (_, pattern) => {
    expect(additive).toMatch(pattern);
  });

  clause(
    'read.versioning.clients_ignore_unknown_fields',
    'read.versioning.clients_do_not_parse_markdown',
  )('tells clients to ignore unknown members, and not to parse Markdown', () => {
    expect(additive).toMatch(/[Ii]gnore unknown JSON fields/);
    expect(additive).toMatch(/[Dd]o not parse the Markdown/);
  });

  clause(
    'read.versioning.breaking_remove_or_rename',
    'read.versioning.breaking_type_or_narrowing',
    'read.versioning.breaking_status_or_code',
  ).each([
    ['removing or renaming a parameter, a field or a route', /removed or renamed/],
    ['changing the type of a field', /changes its type/],
    ['narrowing a parameter', /accepts fewer values/],
    ['changing a status or a code', /status code or an error `code`/],
  ])('counts %s as breaking', (_, pattern) => {
    expect(sections['What is a breaking change?']).toMatch(pattern);
  });

  clause('read.versioning.scheduled_convert_and_browse', 'read.versioning.nothing_removed')(
    'lists the aliases of the table with their dates and successors',
    () => {
      const rows = describeLifecycle(baseUrl).deprecated_operations.flatMap((operation) => {
        const dates = `${operation.deprecated.slice(0, 10)} | ${operation.sunset.slice(0, 10)}`;
        return 'successor' in operation
          ? [`| \`GET ${operation.path}\` | ${dates} | \`GET ${operation.successor}\` |`]
          : Object.entries(operation.successors).map(
              ([value, successor]) =>
                `| \`GET ${operation.path}\` with \`${operation.successor_parameter}=${value}\` | ${dates} | \`GET ${successor}\` |`,
            );
      });

      expect(rows).toHaveLength(5);
      for (const row of rows) expect(sections['What is deprecated?']).toContain(row);
      expect(sections['What is deprecated?']).toContain('Nothing has been removed yet.');
      expect(sections['Is there a hosted service?']).toContain('latest tagged release');
      expect(sections['Is there a hosted service?']).toContain('not a service-level agreement');
    },
  );
});

/** What has been published of v1. Entries may be added; one that leaves breaks clients. */
const published = {
  getPost: {
    path: '/api/v1/posts',
    parameters: 'url handle id thread context replies userinfo full nocache format',
    fields: 'format url markdown posts compact warnings postCount fetched_at source',
  },
  listReplies: {
    path: '/api/v1/posts/{id}/replies',
    parameters: 'handle replies limit cursor page full nocache format',
    fields:
      'resource id handle url posts page limit nextCursor warnings degraded markdown source fetched_at',
  },
  getProfile: {
    path: '/api/v1/profiles/{handle}',
    parameters:
      'with_replies with_reposts include_posts until limit cursor page full nocache format',
    fields:
      'resource handle profile posts page limit nextCursor warnings degraded markdown source fetched_at',
  },
  listFollowers: {
    path: '/api/v1/profiles/{handle}/followers',
    parameters: 'limit cursor page full nocache format',
    fields:
      'resource handle users page limit nextCursor warnings degraded markdown source fetched_at',
  },
  listFollowing: {
    path: '/api/v1/profiles/{handle}/following',
    parameters: 'limit cursor page full nocache format',
    fields:
      'resource handle users page limit nextCursor warnings degraded markdown source fetched_at',
  },
  searchPosts: {
    path: '/api/v1/search',
    parameters: 'q feed since until platform require_live limit cursor page full nocache format',
    fields:
      'resource query feed posts users page limit nextCursor warnings degraded markdown source fetched_at',
  },
  getOEmbed: {
    path: '/api/v1/oembed',
    parameters: 'url maxwidth maxheight format',
    fields:
      'version type html width height title author_name author_url provider_name provider_url cache_age',
  },
} as const satisfies Record<keyof typeof reads, object>;

const publishedReads = Object.keys(published) as (keyof typeof published)[];

/** What each parameter of v1 has been published to take. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  thread: ['off', 'full', 'conversation', 'whole', '2', '100', 'FULL'],
  context: ['full', 'thread', 'Thread'],
  replies: ['top', 'recent'],
  userinfo: ['off', 'author', 'all'],
  feed: ['latest', 'top', 'photos', 'media', 'videos', 'users', 'LATEST'],
  platform: ['x', 'bluesky', 'mastodon', 'archive'],
  since: ['2026-01-31', '2026-01-31T12:00:00Z', '1767225600'],
  until: ['2026-01-31', '2026-01-31T12:00:00+02:00', '1767225600'],
  limit: ['1', '100', '5000'],
  page: ['1', '10'],
  full: ['true', 'false', '1', '0', 'yes', 'no', 'YES'],
  nocache: ['true', 'false', '1', '0', 'yes', 'no', 'True'],
  with_replies: ['true', 'false', '1', '0', 'yes', 'no'],
  with_reposts: ['true', 'false', '1', '0', 'yes', 'no'],
  include_posts: ['true', 'false', '1', '0', 'yes', 'no'],
  maxwidth: ['1', '10000'],
  maxheight: ['1', '10000'],
  require_live: ['true', 'false', '1', '0', 'yes', 'no'],
  format: ['json', 'JSON'],
};

/** What a read takes beyond that. */
const acceptedBy: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  getPost: { replies: ['off'] },
};

/** The types of the fields that have been published. */
const types: Readonly<Record<string, string>> = {
  markdown: 'string',
  warnings: 'array',
  posts: 'array',
  users: 'array',
  compact: 'boolean',
  degraded: 'boolean',
  postCount: 'integer',
  page: 'integer',
  limit: 'integer',
  nextCursor: 'string',
  source: 'string',
  fetched_at: 'string',
};

/** The status of each code that has been published. */
const statuses: Readonly<Record<number, string>> = {
  400: 'missing_url invalid_url unsupported_host invalid_path invalid_params invalid_handle missing_query invalid_query invalid_resource invalid_format invalid_thread invalid_context invalid_replies invalid_userinfo invalid_feed invalid_cursor invalid_option unsupported_platform invalid_body',
  401: 'invalid_key unauthorized',
  404: 'not_found route_not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  500: 'internal_error',
  501: 'not_implemented',
  502: 'upstream_error',
  503: 'upstream_unavailable upstream_rate_limited overloaded shutting_down',
};

describe('the published v1 API', () => {
  clause('read.versioning.breaking_remove_or_rename', 'read.versioning.nothing_removed').each(
    publishedReads,
  )('still has the path, the parameters and the fields of %s', async (read) => {
    const { path, parameters, fields } = published[read];
    const reply = await app.request(`${fill(path)}&format=json`);

    expect(reply.statusCode).toBe(200);
    expect(Object.keys(reads[read].params.shape)).toEqual(
      expect.arrayContaining(parameters.split(' ')),
    );
    expect(Object.keys(fieldsOf(read))).toEqual(expect.arrayContaining(fields.split(' ')));
  });

  clause('read.versioning.breaking_type_or_narrowing').each(publishedReads)(
    'still accepts the same values: %s',
    (read) => {
      const { params } = reads[read];
      const cases = Object.keys(params.shape).flatMap((name) =>
        [...(accepted[name] ?? []), ...(acceptedBy[read]?.[name] ?? [])].map((value) => ({
          [name]: value,
        })),
      );

      const refused = cases.filter((given) => !params.partial().safeParse(given).success);

      expect(cases.length).toBeGreaterThan(0);
      expect(refused).toEqual([]);
    },
  );

  clause('read.versioning.breaking_type_or_narrowing').each(publishedReads)(
    'still has the same types: %s',
    (read) => {
      const known = Object.entries(fieldsOf(read)).filter(([name]) => name in types);

      for (const [name, field] of known) {
        expect([name, typeOf(field)]).toEqual([name, types[name]]);
      }
    },
  );

  clause('read.versioning.breaking_status_or_code')(
    'still has every code with the same status',
    () => {
      for (const [status, codes] of Object.entries(statuses)) {
        for (const code of codes.split(' ')) {
          expect([
            code,
            (problemKinds as Record<string, { status: number }>)[code]?.status,
          ]).toEqual([code, Number(status)]);
        }
      }
    },
  );
});

function fieldsOf(read: keyof typeof reads): Readonly<Record<string, z.ZodType>> {
  const schema: z.ZodType = reads[read].reply;
  const inner = schema instanceof z.ZodReadonly ? schema.unwrap() : schema;
  return z.instanceof(z.ZodObject).parse(inner).shape;
}

/** Names the type of a value that a field takes: the first of these that it takes. */
function typeOf(field: z.ZodType): string | undefined {
  const values = { boolean: true, integer: 1, string: '1', array: [] };
  return Object.entries(values).find(([, value]) => field.safeParse(value).success)?.[0];
}

describe('additive changes', () => {
  clause('read.versioning.additive_query_parameters').each(readRoutes)(
    'an unknown parameter changes nothing at $path',
    async ({ path }) => {
      const plain = await app.request(fill(path));

      const more = await app.request(`${fill(path)}&since_version=2&colour=x&__proto__=1&page[]=2`);

      expect([plain.statusCode, more.statusCode]).toEqual([200, 200]);
      expect(more.body).toBe(plain.body);
      expect(more.headers.etag).toBe(plain.headers.etag);
    },
  );

  async function readPublished(read: (typeof publishedReads)[number]) {
    const reply = await app.request(`${fill(published[read].path)}&format=json`);
    return { schema: reads[read].reply, body: reply.json() };
  }

  clause('read.versioning.additive_fields', 'read.versioning.clients_ignore_unknown_fields').each(
    publishedReads,
  )('a reply of %s with more fields can be parsed as before', async (read) => {
    const { schema, body } = await readPublished(read);

    expect(schema.parse(addFields(body))).toEqual(schema.parse(body));
  });

  clause('read.versioning.additive_open_ended_values', 'read.versioning.additive_markdown').each(
    publishedReads,
  )('a reply of %s with a new source or other Markdown can be parsed', async (read) => {
    const { schema, body } = await readPublished(read);

    for (const change of [{ source: 'a-later-provider' }, { markdown: 'Other *words*.' }]) {
      const known = Object.fromEntries(Object.entries(change).filter(([name]) => name in body));
      expect(schema.parse({ ...body, ...known })).toMatchObject(known);
    }
  });

  clause('read.versioning.clients_do_not_parse_markdown')(
    'a client finds all data of a page in fields next to the Markdown',
    async () => {
      const { posts, markdown } = (
        await app.request(`/api/v1/posts?url=${url}&format=json`)
      ).json();

      expect(markdown).toContain(posts[0].author.name);
      expect(posts[0]).toMatchObject({ id, author: { screen_name: 'ada.example' } });
    },
  );
});

function addFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addFields);
  if (value === null || typeof value !== 'object') return value;
  const grown = Object.entries(value).map(([name, one]) => [name, addFields(one)]);
  return { ...Object.fromEntries(grown), a_later_field: { is: ['new'] } };
}

describe('a route that is not deprecated', () => {
  clause(
    'read.versioning.nothing_else_deprecated',
    'read.versioning.permalinks_not_aliases',
    'read.what.permalink_surface_not_deprecated',
  ).each(readRoutes)('sends no deprecation headers: $path', async ({ path }) => {
    const app = await buildTestApp({ clock: createManualClock(Date.UTC(2030, 0)) });

    const replies = [
      await app.request(fill(path)),
      await app.request(fill(path), { method: 'HEAD' }),
      await app.request(`${fill(path)}&format=pdf`),
      await app.request(fill(path), { method: 'DELETE' }),
    ];

    expect(replies.map(({ statusCode }) => Math.floor(statusCode / 100))).toEqual([
      2,
      2,
      expect.toBeOneOf([4, 5]),
      4,
    ]);
    for (const { headers } of replies) expect(readSignals(headers)).toBeNull();
  });

  clause('read.versioning.nothing_else_deprecated').each([
    '/api',
    '/health/live',
    '/health/ready',
    '/api/unknown',
    '/api/convert/x',
    '/api/Browse',
  ])('sends no deprecation headers: %s', async (path) => {
    const reply = await app.request(path);

    expect(readSignals(reply.headers)).toBeNull();
  });
});

/** What a client of the suggested policy makes of a reply. */
interface Verdict {
  readonly warns: boolean;
  /** The address to use from the next deploy on. */
  readonly next: string | null;
}

const dayMs = 86_400_000;

/**
 * The suggested client policy, in the client's words.
 *
 * @throws Error where the sunset is less than 30 days away.
 */
function judge({ headers }: LightMyRequestResponse, nowMs: number): Verdict {
  const signals = readSignals(headers);
  if (signals === null) return { warns: false, next: null };
  if (signals.sunset.getTime() - nowMs < 30 * dayMs) throw new Error('The sunset is near.');
  return { warns: true, next: signals.successor };
}

describe('a client with the suggested policy', () => {
  const { sunsetMs } = scheduledLifecycle;
  const asked = `/api/convert?url=${url}`;

  clause('read.versioning.client_warns_on_deprecation', 'read.versioning.client_follows_successor')(
    'warns, follows the successor, and then stops warning',
    async () => {
      const clock = createManualClock();
      const app = await buildTestApp({ clock });

      const old = await app.request(asked);
      const { warns, next } = judge(old, clock.now());
      const followed = await app.request(String(next).slice(baseUrl.length));

      expect(warns).toBe(true);
      expect(followed.body).toBe(old.body);
      expect(judge(followed, clock.now())).toEqual({ warns: false, next: null });
    },
  );

  clause('read.versioning.client_fails_near_sunset').each([
    [31, 'continues'],
    [30, 'continues'],
    [29, 'fails'],
    [0, 'fails'],
    [-1, 'fails'],
  ])('%i days before the sunset %s', async (days, outcome) => {
    const clock = createManualClock(sunsetMs - days * dayMs);
    const app = await buildTestApp({ clock });

    for (const { path } of aliasRoutes) {
      const reply = await app.request(path, { method: 'HEAD' });
      if (outcome === 'continues') expect(judge(reply, clock.now()).warns).toBe(true);
      else expect(() => judge(reply, clock.now())).toThrow('The sunset is near.');
    }
  });

  clause(
    'read.versioning.client_warns_on_deprecation',
    'read.versioning.client_follows_successor',
    'read.versioning.client_fails_near_sunset',
  )('matches the page', () => {
    const advice = sections['What should a client do?'];
    expect(advice).toMatch(/warning .*`Deprecation`/);
    expect(advice).toMatch(/next deployment.*`successor-version`/);
    expect(advice).toMatch(/`Sunset` is less than 30 days away.* fail/);
  });
});
