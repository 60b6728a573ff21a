import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { listEndpoints } from '../../src/app/endpoints.ts';
import { version } from '../../src/core/version.ts';
import { describeOpenApi } from '../../src/http/openapi/document.ts';
import { isPermalinkHandle } from '../../src/reads/addresses/match-path.ts';
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

/** A machine description that replies are held against. */
export interface Description {
  readonly document: OpenApiDocument;
  /** Gives the validator of a schema of the document; each is compiled once. */
  validatorOf(schema: object): ValidateFunction;
}

/** Makes the validators of a document, by JSON Schema 2020-12 and not by what it was made from. */
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

const descriptions = new Map<boolean, Description>();

/** Gives the description of an app of the tests, made once in a worker. */
export function descriptionOf(settings: { readonly linkPreviews: boolean }): Description {
  const known = descriptions.get(settings.linkPreviews);
  if (known !== undefined) return known;
  const facts = {
    ...settings,
    baseUrl: 'http://localhost:8080',
    version,
    nowMs: 0,
    endpoints: listEndpoints('svc'),
    // No reply is held against them.
    examples: { baseUrl: '', parameters: {}, reads: {}, endpoints: {}, problems: {} },
    limits: { windowSeconds: 60, public: 60, key: 600, post: 600, pool: 800 },
  };
  const json = JSON.parse(JSON.stringify(describeOpenApi(facts)));
  const made = createDescription(parseDocument(json));
  descriptions.set(settings.linkPreviews, made);
  return made;
}

/** Checks a reply against what the document says of its path, method, status and media type. */
export function expectDescribed(description: Description, reply: LightMyRequestResponse): void {
  const { url = '', method = 'GET' } = reply.raw.req;
  const item = findItem(description.document, url);
  const operations = new Map<string, Operation>(Object.entries(item ?? {}));
  // A stream has no HEAD.
  const isRefusedHead = method === 'HEAD' && reply.statusCode === 405;
  const name = method === 'HEAD' && !isRefusedHead ? 'GET' : method;
  const operation = operations.get(name.toLowerCase());
  if (item === undefined) expectNoRoute(description, reply);
  else if (operation === undefined) expectOtherMethod(description, reply, operations);
  else expectResponse(description, reply, operation);
}

type PathItem = OpenApiDocument['paths'][string];

/** Gives what the document has for a URL: of the templates that fit the one with the fewest parameters. */
function findItem({ paths }: OpenApiDocument, url: string): PathItem | undefined {
  const path = toRowPath(decode(url.split('?', 1)[0] ?? ''));
  const fitting = Object.keys(paths).filter((template) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const [best] = fitting.toSorted((a, b) => a.split('{').length - b.split('{').length);
  if (best === undefined) return undefined;
  const isReserved = best.startsWith('/{') && !isPermalinkHandle(path.split('/')[1] ?? '');
  return isReserved ? undefined : paths[best];
}

/** What cannot be decoded is routed nowhere. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}

const problem = { $ref: '#/components/schemas/Problem' };

/** A path that nothing describes answers with problems alone, or a preflight. */
function expectNoRoute(description: Description, reply: LightMyRequestResponse): void {
  const asked = `${reply.raw.req.method} ${reply.raw.req.url}`;
  if (isPreflightReply(reply)) return;
  // Another spelling of a described path leads there.
  if (reply.statusCode === 308) return;
  expect(reply.statusCode, `${asked} is not described`).toBeGreaterThanOrEqual(400);
  if (reply.body !== '') expectValid(description, problem, reply.json());
}

/** A method that a path does not have is answered by a problem, which names those that it has. */
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

/** A stream has no HEAD: it would say nothing of what is to come. */
function isStream({ responses }: Operation): boolean {
  const found = responses[200] ?? {};
  return 'content' in found && Object.hasOwn(found.content ?? {}, streamMediaType);
}

/** Tells whether what is streamed can be had as one document, too. */
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
  // What is refused before an operation is reached is a problem, whatever its status.
  if (!isDescribed) expect(refusals, `${name} is not described`).toContain(reply.statusCode);
  const response = responseOf(document, operation, isDescribed ? reply.statusCode : 'default');
  if (isDescribed) expectHeaders(description, reply, { response, name, operation });
  if (reply.body === '') return;
  const mediaType = String(reply.headers['content-type']).split(';', 1)[0] ?? '';
  const schema = response.content?.[mediaType]?.schema;
  expect(schema, `${name} ${mediaType} is not described`).toBeDefined();
  for (const value of parseBody(reply.body, mediaType)) {
    expectValid(description, schema ?? {}, value);
  }
}

/** Gives what a body holds: one value, or that of each line of a stream. */
function parseBody(body: string, mediaType: string): readonly unknown[] {
  if (mediaType === streamMediaType) {
    return body
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line));
  }
  return [/[/+]json$/.test(mediaType) ? JSON.parse(body) : body];
}

/** The statuses of `default`: of requests that are malformed, too large or too slow. */
const refusals = [400, 403, 408, 413, 414, 415, 431];

interface Described {
  readonly response: ResponseObject;
  readonly operation: Operation;
  readonly name: string;
}

/** Headers of HTTP itself, of CORS, of the connection and for browsers alone: no description lists them. */
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
  const sent = Object.keys(reply.headers).filter((header) => !general.test(header));
  expect(
    sent.filter((header) => !described.has(header)),
    `headers of ${name} that are not described`,
  ).toEqual([]);
  // HEAD of an alias and of a stream reads nothing, so it cannot tell what would have been read.
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
