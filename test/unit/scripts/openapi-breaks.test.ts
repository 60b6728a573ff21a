import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listBreaks } from '../../../scripts/openapi-breaks.ts';

/** Small description that contains every construct that the comparison checks. */
const released = {
  openapi: '3.1.1',
  info: { title: 'T', version: '1.0.0' },
  security: [],
  'x-api-lifecycle': {
    supported_versions: ['v1'],
    minimum_support_window_months: 12,
    deprecated_operations: [
      { operationId: 'old', path: '/old', sunset: '2027-09-15T00:00:00Z', successor: '/things' },
    ],
  },
  'x-rate-limit-policies': { public: { quota: 60, window_seconds: 60 } },
  'x-problem-codes': { not_found: { status: 404 }, rate_limited: { status: 429 } },
  paths: {
    '/old': { get: { operationId: 'old', deprecated: true, responses: {} } },
    '/things': {
      get: {
        operationId: 'listThings',
        security: [{}, { key: [] }],
        parameters: [
          { name: 'q', in: 'query', required: true, schema: { type: 'string', maxLength: 512 } },
          {
            name: 'feed',
            in: 'query',
            required: false,
            schema: { type: 'string', enum: ['latest', 'top'], default: 'latest' },
          },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
          {
            name: 'since',
            in: 'query',
            schema: { anyOf: [{ type: 'string', format: 'date' }, { type: 'integer' }] },
          },
          { name: 'Accept-Thing', in: 'header', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'Things.',
            headers: {
              'X-Cache': {
                required: true,
                schema: { type: 'string', 'x-extensible-enum': ['hit', 'miss'] },
              },
            },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Thing' } },
              'text/markdown': { schema: { type: 'string' } },
            },
          },
          404: { $ref: '#/components/responses/Missing' },
        },
      },
      post: {
        operationId: 'makeThing',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  label: { type: 'string', pattern: '^a' },
                  size: { type: ['integer', 'null'] },
                },
                required: ['label'],
                additionalProperties: false,
              },
            },
          },
        },
        responses: { 204: { description: 'Made.' } },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          kind: { type: 'string', 'x-extensible-enum': ['status', 'tombstone'] },
          count: { type: 'integer' },
          title: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          created: { type: 'string', format: 'date-time' },
          version: { type: 'string', const: '1.0' },
          parts: {
            type: 'array',
            items: {
              anyOf: [
                {
                  type: 'object',
                  properties: { type: { type: 'string', const: 'text' }, text: { type: 'string' } },
                  required: ['type', 'text'],
                },
                {
                  type: 'object',
                  properties: { type: { type: 'string', const: 'photo' } },
                  required: ['type'],
                },
              ],
            },
          },
          quote: { anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] },
        },
        required: ['id', 'kind', 'count', 'title', 'parts'],
      },
    },
    responses: {
      Missing: {
        description: 'No.',
        headers: { 'Retry-After': { schema: { type: 'integer', minimum: 0 } } },
        content: { 'application/problem+json': { schema: { type: 'object' } } },
      },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
};

type Json = Record<string, unknown>;

/** Returns a copy of the description with the value at `place` replaced; `undefined` removes it. */
function change(place: string, value: unknown): Json {
  const copy: Json = structuredClone(released);
  const steps = place.split(' ');
  const last = steps.pop() ?? '';
  // The paths of the tables exist in the document above.
  const at = steps.reduce((object, step) => object[step] as Json, copy);
  if (value === undefined && Array.isArray(at)) at.splice(Number(last), 1);
  else if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const day = Date.UTC(2026, 11, 1);
const breaksOf = (after: Json, nowMs = day) => listBreaks({ before: released, after }, nowMs);

const get = 'paths /things get';
const post = 'paths /things post';
const body = `${post} requestBody content application/json schema`;
const thing = 'components schemas Thing';
const members = `${thing} properties`;
const text = released.components.schemas.Thing.properties.parts.items.anyOf[0];
const [q] = released.paths['/things'].get.parameters;

const breaking: readonly (readonly [string, string, unknown, string])[] = [
  ['a path', 'paths /things', undefined, 'GET /things: was removed'],
  ['an operation', post, undefined, 'POST /things: was removed'],
  ['an operation before its sunset', 'paths /old', undefined, 'GET /old: was removed'],
  ['an operation id', `${get} operationId`, 'getThings', 'GET /things: its id "listThings"'],
  ['a parameter', `${get} parameters 1`, undefined, 'GET /things query:feed: was removed'],
  ['the name of a parameter', `${get} parameters 1 name`, 'sort', 'query:feed: was removed'],
  ['the place of a parameter', `${get} parameters 2 in`, 'header', 'query:limit: was removed'],
  ['an optional parameter', `${get} parameters 2 required`, true, 'query:limit: is now required'],
  [
    'a new required parameter',
    `${get} parameters 5`,
    { name: 'token', in: 'query', required: true, schema: {} },
    'the required parameter query:token is new',
  ],
  [
    'a value of a parameter',
    `${get} parameters 1 schema enum`,
    ['latest'],
    'value "top" was removed',
  ],
  ['new enumerated values', `${get} parameters 0 schema enum`, ['a'], 'only listed values'],
  ['a default', `${get} parameters 1 schema default`, 'top', 'the default "latest" became "top"'],
  ['a removed default', `${get} parameters 1 schema default`, undefined, 'the default'],
  ['the type of a parameter', `${get} parameters 0 schema type`, 'integer', 'type "string" became'],
  ['a number that becomes a boolean', `${get} parameters 2 schema type`, 'boolean', 'the type'],
  ['the length of a parameter', `${get} parameters 0 schema maxLength`, 100, 'maxLength was 512'],
  ['a minimum', `${get} parameters 2 schema minimum`, 5, 'minimum was 1 and is 5'],
  ['a new limit', `${get} parameters 2 schema multipleOf`, 10, 'multipleOf was nothing'],
  [
    'an alternative of a parameter',
    `${get} parameters 3 schema anyOf 0`,
    undefined,
    'query:since: {"type":"string","format":"date"} is no longer an alternative',
  ],
  ['the serialization of a list', `${get} parameters 2 explode`, false, 'explode was nothing'],
  ['access without a key', `${get} security`, [{ key: [] }], 'no longer grants access'],
  ['a response', `${get} responses 404`, undefined, 'GET /things 404: was removed'],
  [
    'a media type',
    `${get} responses 200 content text/markdown`,
    undefined,
    'markdown: was removed',
  ],
  ['a header', `${get} responses 200 headers X-Cache`, undefined, 'header x-cache: was removed'],
  [
    'a header that was required',
    `${get} responses 200 headers X-Cache required`,
    undefined,
    'header x-cache: was required and is now optional',
  ],
  [
    'a known value of a header',
    `${get} responses 200 headers X-Cache schema x-extensible-enum`,
    ['hit'],
    'header x-cache: the value "miss" was removed',
  ],
  [
    'the type of a header of a referenced response',
    'components responses Missing headers Retry-After schema type',
    'string',
    'GET /things 404 header retry-after: the type "integer" became "string"',
  ],
  ['a property of a response', `${members} count`, undefined, 'json.count: was removed'],
  ['a property that was required', `${thing} required`, ['id'], 'is now optional'],
  ['the type of a property', `${members} count type`, 'number', '"integer" became "number"'],
  ['a property that can now be null', `${members} id type`, ['string', 'null'], 'new alternative'],
  ['a known value of a property', `${members} kind x-extensible-enum`, ['status'], '"tombstone"'],
  ['removed known values', `${members} kind x-extensible-enum`, undefined, 'no longer listed'],
  ['the format of a property', `${members} created format`, undefined, 'the format "date-time"'],
  ['a constant', `${members} version const`, '2.0', 'the value "1.0" was removed'],
  ['a removed constant', `${members} version const`, undefined, 'is now open'],
  ['a property of a part', `${members} parts items anyOf 0 properties text`, undefined, 'parts[]'],
  ['a type of part', `${members} parts items anyOf 1`, undefined, 'no longer an alternative'],
  ['a body', `${post} requestBody`, undefined, 'POST /things body: was removed'],
  ['a property of a body', `${body} properties size`, undefined, 'json.size: was removed'],
  [
    'a newly required property of a body',
    `${body} required`,
    ['label', 'size'],
    'size: is now required',
  ],
  ['null in a body', `${body} properties size type`, 'integer', 'is no longer an alternative'],
  ['a pattern of a body', `${body} properties label pattern`, '^b', 'the pattern "^a" became "^b"'],
  ['a code of a problem', 'x-problem-codes not_found', undefined, 'problem not_found: was removed'],
  ['the status of a code', 'x-problem-codes not_found status', 410, 'its status 404 became 410'],
  ['an allowance', 'x-rate-limit-policies public', undefined, 'allowance public: was removed'],
  [
    'a security scheme',
    'components securitySchemes key',
    undefined,
    'security scheme key: was removed',
  ],
  ['a version', 'x-api-lifecycle supported_versions', ['v2'], '"v1" is no longer supported'],
  ['the window', 'x-api-lifecycle minimum_support_window_months', 6, 'the support window'],
  [
    'a sunset',
    'x-api-lifecycle deprecated_operations 0 sunset',
    '2027-01-01T00:00:00Z',
    'the sunset of old is earlier',
  ],
];

const harmless: readonly (readonly [string, string, unknown])[] = [
  ['nothing', 'info title', 'T'],
  ['a version', 'info version', '1.1.0'],
  ['a path', 'paths /more', { get: { operationId: 'more', responses: {} } }],
  ['an operation', 'paths /things delete', { operationId: 'drop', responses: {} }],
  ['an optional parameter', `${get} parameters 5`, { ...q, name: 'page', required: false }],
  ['a parameter that is no longer required', `${get} parameters 0 required`, false],
  ['a value of a parameter', `${get} parameters 1 schema enum`, ['latest', 'top', 'photos']],
  ['a parameter without enumerated values', `${get} parameters 1 schema enum`, undefined],
  ['a new default', `${get} parameters 2 schema default`, 20],
  ['a longer parameter', `${get} parameters 0 schema maxLength`, 1024],
  ['a greater limit', `${get} parameters 2 schema maximum`, undefined],
  ['a wider number', `${get} parameters 2 schema type`, 'number'],
  [
    'a new alternative',
    `${get} parameters 3 schema anyOf 2`,
    { type: 'string', format: 'date-time' },
  ],
  ['the case of a header', `${get} parameters 4 name`, 'ACCEPT-THING'],
  ['a new security requirement', `${get} security`, [{}, { key: [] }, { token: [] }]],
  ['a response', `${get} responses 410`, { description: 'Gone.' }],
  ['a media type', `${get} responses 200 content text/html`, { schema: { type: 'string' } }],
  ['a header', `${get} responses 200 headers X-New`, { schema: { type: 'string' } }],
  [
    'a known value of a header',
    `${get} responses 200 headers X-Cache schema x-extensible-enum`,
    ['hit', 'miss', 'stale'],
  ],
  ['a property of a response', `${members} extra`, { type: 'string' }],
  ['a newly required property of a response', `${thing} required 5`, 'created'],
  [
    'a known value of a property',
    `${members} kind x-extensible-enum`,
    ['status', 'tombstone', 'x'],
  ],
  ['a property that is never null', `${members} title`, { type: 'string' }],
  [
    'a type of part',
    `${members} parts items anyOf 2`,
    { ...text, properties: { type: { type: 'string', const: 'video' } } },
  ],
  ['a property of a body', `${body} properties notes`, { type: 'string' }],
  ['a body that is no longer required', `${post} requestBody required`, false],
  ['a code', 'x-problem-codes gone', { status: 410 }],
  ['a greater quota', 'x-rate-limit-policies public quota', 120],
  ['a deprecated operation', `${get} deprecated`, true],
  ['a later sunset', 'x-api-lifecycle deprecated_operations 0 sunset', '2028-01-01T00:00:00Z'],
  ['a description', `${members} id description`, 'Which one.'],
  ['an example', `${get} responses 200 content text/markdown examples`, { one: { value: 'x' } }],
];

describe('listBreaks', () => {
  it.each(breaking)('reports the change or removal of %s: %s', (_, place, value, message) => {
    expect(breaksOf(change(place, value)).join('\n')).toContain(message);
  });

  it('reports a breaking change at each use of a schema', () => {
    const after = change('components schemas Thing properties count', undefined);
    const before = structuredClone(released) as Json;
    const twice = (of: Json) => {
      const paths = of.paths as Json;
      paths['/again'] = structuredClone(paths['/things']);
      return of;
    };

    const breaks = listBreaks({ before: twice(before), after: twice(after) }, day);

    expect(breaks).toEqual([
      'GET /things 200 application/json.count: was removed',
      'GET /again 200 application/json.count: was removed',
    ]);
  });
});

describe('listBreaks with compatible changes', () => {
  it.each(harmless)('accepts a change or addition of %s: %s', (_, place, value) => {
    expect(breaksOf(change(place, value))).toEqual([]);
  });

  it('accepts the removal of an operation after its sunset', () => {
    const after = change('paths /old', undefined);

    expect(breaksOf(after, Date.parse('2027-09-15T00:00:00Z'))).toEqual([]);
  });

  it('accepts the description of this server compared with itself', () => {
    const own = JSON.parse(readFileSync('openapi/perch.json', 'utf8'));

    expect(listBreaks({ before: own, after: structuredClone(own) }, day)).toEqual([]);
  });
});
