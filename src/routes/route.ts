import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteShorthandOptions,
} from 'fastify';
import type * as z from 'zod';
import { Problem, type ProblemCode } from '../lib/problem.ts';
import type { Topic } from '../reads/read.ts';
import { isPreflight } from './cors.ts';
import { routeNotFound } from './problems.ts';

/** Group of routes in the document `/api`. */
export type EndpointTag =
  | 'discovery'
  | 'health'
  | 'mcp'
  | 'media'
  | 'operator'
  | 'pages'
  | 'permalink'
  | 'sessions'
  | 'v1';

/** Documented response of a route, except problem documents. */
export interface EndpointReply {
  readonly status: number;
  readonly description: string;
  /** Schemas of the body, by media type; `text` or `binary` if the body is not JSON. */
  readonly content?: Readonly<Record<string, z.ZodType | 'text' | 'binary'>>;
  /** Response headers, in addition to the headers of all responses. */
  readonly headers?: EndpointHeaders;
}

/** Headers of a response by name. An optional header may be absent. */
export type EndpointHeaders = Readonly<Record<string, EndpointHeader>>;

export interface EndpointHeader {
  readonly description: string;
  readonly isOptional?: true;
}

/** Declaration of a route: its OpenAPI operation, its line in `/api`, and what is registered. */
export interface Endpoint {
  /** OpenAPI operation id. A published id never changes. */
  readonly id: string;
  readonly method: Method;
  /** Path with its parameters in braces, for example `/sessions/{id}`. */
  readonly path: string;
  /** Path in the syntax of Fastify. Default: `path` with `:id` instead of `{id}`. */
  readonly url?: string;
  readonly tag: EndpointTag;
  /** Tag in the OpenAPI document. Default: the value of `tag`. */
  readonly topic?: Topic;
  /** Name in words that a reader would search, such as `Get a post`; OpenAPI's `summary`. */
  readonly title: string;
  /** Sentence about what the route does. */
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: {
    readonly path?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly header?: z.ZodObject;
  };
  readonly body?: Readonly<Record<string, z.ZodType>>;
  readonly isBodyOptional?: true;
  readonly replies: readonly EndpointReply[];
  /** Headers of all responses, including errors, in addition to the common headers. */
  readonly headers?: EndpointHeaders;
  /** Codes of the errors that the route can return, in addition to the errors of all routes. */
  readonly problems: readonly ProblemCode[];
  /** Credentials: none, an optional API key, any bearer token (`bearer`) or the admin token. */
  readonly access: 'open' | 'key' | 'bearer' | 'operator';
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type Undeclared = Omit<Endpoint, 'id'>;

/** Declares routes by operation id, with the members in `shared` unless they have their own. */
export function declareRoutes<Id extends string, Shared extends Partial<Undeclared>>(
  shared: Shared,
  routes: Readonly<Record<Id, Omit<Undeclared, keyof Shared> & Partial<Undeclared>>>,
): Readonly<Record<Id, Endpoint>> {
  const declared = Object.entries<Partial<Undeclared>>(routes).map(([id, one]) => [
    id,
    { id, ...shared, ...one },
  ]);
  return Object.fromEntries(declared);
}

/** Method syntax, so that a handler may know the parameters of its path. */
type Handler = { handle(request: FastifyRequest, reply: FastifyReply): unknown }['handle'];

interface Served extends Pick<RouteShorthandOptions, 'bodyLimit' | 'config'> {
  readonly onRequest?: readonly { check(request: FastifyRequest): Promise<void> }['check'][];
  readonly handler: Handler;
  /** Handler of HEAD requests to a GET route; `null` for none. Default: `handler`. */
  readonly head?: Handler | null;
}

interface PathOptions {
  readonly config?: FastifyContextConfig;
  /** Returns the configuration by the methods of a path. Default: `config`. */
  readonly configOf?: (allow: string[]) => FastifyContextConfig;
  /** Returns whether path parameters such as the handle are valid; if not, 404. Default: yes. */
  readonly isRoute?: (request: FastifyRequest) => boolean;
  /** Detail text for unsupported methods. Default: a list of the supported methods. */
  readonly detail?: string;
}

type Handlers<Id extends string> = Readonly<Record<Id, Handler | Served | null>>;

/** Registers declared routes. A handler is `null` if the path belongs to another route too. */
export function serveRoutes<Id extends string>(
  app: FastifyInstance,
  declared: Readonly<Record<Id, Endpoint>>,
  handlers: Handlers<Id>,
  options?: PathOptions,
): void {
  const paths = new Map<string, Partial<Handlers<string>>>();
  for (const { id, method, path, url = toUrl(path) } of Object.values<Endpoint>(declared)) {
    const handler = handlers[id as Id]; // `declareRoutes` takes ids from the keys
    if (handler !== null) paths.set(url, { ...paths.get(url), [method]: handler });
  }
  for (const [url, methods] of paths) route(app, url, methods, options);
}

const toUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Registers the handlers of a path by method, and 405 for all others (RFC 9110 §15.5.6). */
export function route(
  app: FastifyInstance,
  url: string,
  methods: Partial<Handlers<Method>>,
  options: PathOptions = {},
): void {
  const served = Object.entries(methods).flatMap(([method, handler]) =>
    handler === null ? [] : listMethods(method, handler),
  );
  const allow = served.map(({ method }) => method);
  const config = options.configOf?.(allow) ?? options.config ?? {};
  for (const { config: own, ...one } of served) {
    app.route({ ...one, url, config: { ...config, ...own } });
  }
  refuseOthers(app, url, allow, { ...options, config });
}

/** Refuses all methods of a path except those in `allow` with 405 (RFC 9110 §15.5.6). */
export function refuseOthers(
  app: FastifyInstance,
  url: string,
  allow: readonly string[],
  { config = {}, isRoute = () => true, detail }: PathOptions,
): void {
  const method = routedMethods.filter((name) => !allow.includes(name));
  refuseIn(app, { url, config, method }, async (request, reply) => {
    if (!isRoute(request)) throw routeNotFound(request);
    const { cors } = request.routeOptions.config;
    if (isPreflight(request) && cors !== false) return reply.code(204).send();
    throw new Problem('method_not_allowed', {
      detail: detail ?? `This route supports ${allow.join(' and ')}.`,
      allow,
    });
  });
}

function listMethods(method: string, given: Handler | Served) {
  const {
    onRequest = [],
    head,
    ...served
  }: Served = typeof given === 'function' ? { handler: given } : given;
  // Fastify's own HEAD routes would add `Content-Length: 0` to a 304.
  const own = { ...served, method, exposeHeadRoute: false, onRequest: [...onRequest] };
  if (method !== 'GET' || head === null) return [own];
  return [own, { ...own, method: 'HEAD', handler: head ?? served.handler }];
}

/** Answers all methods with 404 `route_not_found`, after the `onRequest` hooks of `app`. */
export function refuseAll(app: FastifyInstance, url: string, config: FastifyContextConfig = {}) {
  refuseIn(app, { url, config, method: routedMethods }, async (request) => {
    throw routeNotFound(request);
  });
}

function refuseIn(
  app: FastifyInstance,
  refused: { readonly url: string; config: FastifyContextConfig; method: string[] },
  refuse: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  // In `onRequest`, so that the body is not read.
  app.route({ ...refused, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Method that the client sent, if it is not one of those that have routes. */
    sentMethod?: string;
  }
}

const routedMethods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** Routes a method such as PUT as TRACE, which every path refuses: 35 routes a path are slow. */
export function withRoutedMethod<
  Request extends { method?: string | undefined; sentMethod?: string },
>(request: Request): Request {
  const { method = '' } = request;
  if (routedMethods.includes(method)) return request;
  return Object.assign(request, { sentMethod: method, method: 'TRACE' });
}

/** Pattern of a complete URL as a path: `/https://x.com/jack`, also with other slashes. */
const wholeUrl = /^\/*(\/[a-z][a-z\d+.-]*:\/)/i;

/**
 * Returns a request target (RFC 9112 §3.2) as path and query, with single slashes and without one
 * at the end. A complete URL in the path keeps its slashes. Never resolves the target as a URL,
 * because `//jack` would then be a host.
 */
export function toCanonicalTarget(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, '/');
  const query = path.search(/[?#]/);
  const end = query === -1 ? path.length : query;
  const isCanonical = path.lastIndexOf('//', end - 1) === -1 && (end < 2 || path[end - 1] !== '/');
  if (isCanonical) return path;
  const [leading = '', start] = wholeUrl.exec(path) ?? [];
  if (start !== undefined) return `${start}${path.slice(leading.length)}`;
  const merged = path.slice(0, end).replaceAll(/\/{2,}/g, '/');
  const shortened = merged.length > 1 && merged.endsWith('/') ? merged.slice(0, -1) : merged;
  return `${shortened}${path.slice(end)}`;
}
