import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { version } from '../../src/lib/version.ts';
import { isPermalinkHandle } from '../../src/reads/addresses/own-paths.ts';
import { describeOpenApi } from '../../src/routes/openapi/document.ts';
import { toPath } from '../../src/routes/reads/routes.ts';
import { adminEndpoints, listEndpoints } from '../../src/server/endpoints.ts';
import {
  type HeaderObject,
  type OpenApiDocument,
  type Operation,
  parseDocument,
  type ResponseObject,
  resolveHeader,
  responseOf,
} from './openapi.ts';
import { toRowPath } from './row-path.ts';
import { withoutCoding } from './vary.ts';

/** OpenAPI description to validate responses with. */
export interface Description {
  readonly document: OpenApiDocument;
  /** Returns the validator for a schema of the document. Each is compiled once. */
  validatorOf(schema: object): ValidateFunction;
}

/** Creates the validators of a document with a JSON Schema 2020-12 library, independently of zod. */
export function createDescription(document: OpenApiDocument): Description {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'perch:document', components: document.components });
  const compiled = new Map<string, ValidateFunction>();
  return {
    document,
    validatorOf: (schema) => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"perch:document#/');
      const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, known);
      return known;
    },
  };
}

let description: Description | undefined;

/** Returns the description of test apps, created once per worker. */
export function descriptionOf(): Description {
  if (description !== undefined) return description;
  const facts = {
    baseUrl: 'http://localhost:8080',
    version,
    nowMs: 0,
    endpoints: [
      ...listEndpoints('svc', { PERCH_MEDIA: 'proxy', PERCH_ACTOR: true }),
      ...adminEndpoints,
    ],
    // Responses are not validated with them.
    examples: { baseUrl: '', parameters: {}, reads: {}, endpoints: {}, problems: {} },
    limits: { windowSeconds: 60, public: 60, key: 600, post: 600, media: 600, pool: 800 },
  };
  const json = JSON.parse(JSON.stringify(describeOpenApi(facts)));
  description = createDescription(parseDocument(json));
  return description;
}

/** Validates a response with the description of its path, method, status and media type. */
export function expectDescribed(description: Description, reply: LightMyRequestResponse): void {
  const { url = '', method = 'GET' } = reply.raw.req;
  const item = findItem(description.document, url);
  const operations = new Map<string, Operation>(Object.entries(item ?? {}));
  // Streams have no HEAD.
  const isRefusedHead = method === 'HEAD' && reply.statusCode === 405;
  const name = method === 'HEAD' && !isRefusedHead ? 'GET' : method;
  const operation = operations.get(name.toLowerCase());
  // Another spelling of a described path, such as the name of a page, redirects to it.
  if (item === undefined || reply.statusCode === 308) expectNoRoute(description, reply);
  else if (operation === undefined) expectOtherMethod(description, reply, operations);
  else expectResponse(description, reply, operation);
}

type PathItem = OpenApiDocument['paths'][string];

/** Returns the path item for a URL: the matching template with the fewest parameters, then with the longest fixed text. */
function findItem({ paths }: OpenApiDocument, url: string): PathItem | undefined {
  const path = toRowPath(decode(url.split('?', 1)[0] ?? ''));
  const fitting = Object.keys(paths).filter((template) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const [best] = fitting.toSorted(
    (a, b) =>
      a.split('{').length - b.split('{').length ||
      b.indexOf('{') - a.indexOf('{') ||
      b.length - a.length,
  );
  if (best === undefined) return undefined;
  const isReserved = best.startsWith('/{') && !isPermalinkHandle(path.split('/')[1] ?? '');
  return isReserved ? undefined : paths[best];
}

/** Decodes a path. Returns an unroutable path for invalid encodings. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

const problem = { $ref: '#/components/schemas/Problem' };

/** Checks a response for an undescribed path: a problem, or a CORS preflight response. */
function expectNoRoute(description: Description, reply: LightMyRequestResponse): void {
  const asked = `${reply.raw.req.method} ${reply.raw.req.url}`;
  if (isPreflightReply(reply)) return;
  if (reply.statusCode === 308) return;
  // The dashboard is not an API: its pages are not described, only its errors are.
  if (reply.statusCode < 400 && toPath(reply.raw.req.url ?? '').startsWith('/admin')) return;
  expect(reply.statusCode, `${asked} is not described`).toBeGreaterThanOrEqual(400);
  if (reply.body !== '' && !isErrorPage(reply)) expectValid(description, problem, reply.json());
}

/** Returns whether a reply is the page that a navigation of a browser gets instead of a problem document. */
export function isErrorPage({ raw, statusCode, headers }: LightMyRequestResponse): boolean {
  const isPage = statusCode >= 400 && headers['content-type'] === 'text/html; charset=utf-8';
  const isRequested = /[?&]format=html\b/i.test(raw.req.url ?? '');
  const { 'sec-fetch-mode': mode, accept = '' } = raw.req.headers;
  return isPage && (isRequested || mode === 'navigate' || accept.includes('text/html'));
}

/** Checks the response for an unsupported method: a problem, with the supported methods in `Allow`. */
function expectOtherMethod(
  description: Description,
  reply: LightMyRequestResponse,
  operations: ReadonlyMap<string, Operation>,
): void {
  expectNoRoute(description, reply);
  if (reply.statusCode !== 405) return;
  const get = operations.get('get');
  const described = [...operations.keys()].map((method) => method.toUpperCase());
  const hasHead = get !== undefined && (!isStream(get) || hasDocument(get));
  const allowed = new Set(hasHead ? [...described, 'HEAD'] : described);
  expect(new Set(String(reply.headers.allow).split(', '))).toEqual(allowed);
}

const streamMediaType = 'application/x-ndjson';

/** Returns whether all responses of an operation are streams. Streams have no HEAD. */
function isStream({ responses }: Operation): boolean {
  const found = responses[200] ?? {};
  return 'content' in found && Object.hasOwn(found.content ?? {}, streamMediaType);
}

function hasDocument({ responses }: Operation): boolean {
  const found = responses[200] ?? {};
  return 'content' in found && Object.hasOwn(found.content ?? {}, 'application/json');
}

function isPreflightReply({ raw, statusCode, body }: LightMyRequestResponse): boolean {
  return raw.req.method === 'OPTIONS' && statusCode === 204 && body === '';
}

function expectResponse(
  description: Description,
  reply: LightMyRequestResponse,
  operation: Operation,
): void {
  const { document } = description;
  const isDescribed = Object.hasOwn(operation.responses, reply.statusCode);
  const name = `${operation.operationId} ${reply.statusCode}`;
  // A request that is refused before it is routed gets a problem with any status.
  if (!isDescribed) expect(refusals, `${name} is not described`).toContain(reply.statusCode);
  const response = responseOf(document, operation, isDescribed ? reply.statusCode : 'default');
  if (isDescribed) expectHeaders(description, reply, { response, name, operation });
  if (reply.body === '' || isErrorPage(reply)) return;
  const mediaType = String(reply.headers['content-type']).split(';', 1)[0] ?? '';
  const schema = response.content?.[mediaType]?.schema;
  expect(schema, `${name} ${mediaType} is not described`).toBeDefined();
  for (const value of parseBody(reply.body, mediaType)) {
    expectValid(description, schema ?? {}, value);
  }
}

/** Returns the values in a body: one value, or one for each line of a stream. */
function parseBody(body: string, mediaType: string): readonly unknown[] {
  if (mediaType === streamMediaType) {
    return body
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line));
  }
  return [/[/+]json$/.test(mediaType) ? JSON.parse(body) : body];
}

/** Statuses of the `default` response: malformed, too large or too slow requests. */
const refusals = [400, 403, 408, 413, 414, 415, 431];

interface Described {
  readonly response: ResponseObject;
  readonly operation: Operation;
  readonly name: string;
}

/** General headers that the description does not list: HTTP, CORS, connection and browser headers. */
const general =
  /^(?:access-control-.*|connection|content-.*|cross-origin-opener-policy|date|keep-alive|permissions-policy|referrer-policy|transfer-encoding|x-content-type-options)$/;

function expectHeaders(
  description: Description,
  reply: LightMyRequestResponse,
  { response, operation, name }: Described,
): void {
  const described = new Map(
    Object.entries(response.headers ?? {}).map(([header, one]): [string, HeaderObject] => [
      header.toLowerCase(),
      resolveHeader(description.document, one),
    ]),
  );
  // The description has no settings, and only with `PERCH_BROWSER_PAGES` errors of posts vary. Like `Content-Encoding`,
  // `Accept-Encoding` concerns every text, so it is not described.
  const vary = withoutCoding(reply.headers.vary);
  const isOptional = (header: string) =>
    header === 'vary' && (vary === undefined || vary.includes('Sec-Fetch-Mode'));
  const sent = Object.keys(reply.headers).filter(
    (header) => !general.test(header) && (described.has(header) || !isOptional(header)),
  );
  expect(
    sent.filter((header) => !described.has(header)),
    `headers of ${name} that are not described`,
  ).toEqual([]);
  // HEAD of an alias or a stream does not run the read, so it lacks headers about the result.
  const isAll = reply.raw.req.method !== 'HEAD' || !readsNothing(operation);
  for (const [header, { required, schema }] of described) {
    const value = reply.headers[header];
    if (value === undefined) {
      expect(isAll && required, `${name} has no ${header}`).not.toBe(true);
    } else {
      expectValid(description, schema, schema.type === 'integer' ? Number(value) : String(value));
    }
  }
}

function readsNothing(operation: Operation): boolean {
  return operation.deprecated === true || isStream(operation);
}

function expectValid(description: Description, schema: object, value: unknown): void {
  const validate = description.validatorOf(schema);
  const isValid = validate(value);
  expect(isValid ? [] : validate.errors, JSON.stringify(schema)).toEqual([]);
}
