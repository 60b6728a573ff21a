import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter, { type Handler } from 'find-my-way';
import { Problem } from '../core/problem.ts';
import { isPreflight } from './cors.ts';
import { maxUrlBytes, routeNotFound } from './errors.ts';

interface AllowedMethods {
  readonly allow: readonly string[];
  /**
   * Returns whether the parameters in the path of a request, such as the handle, are valid. If not,
   * the reply is 404. Default: all paths are valid.
   */
  readonly isRoute?: (request: FastifyRequest) => boolean;
  /** Detail text of the problem for unsupported methods. Default: a list of the supported methods. */
  readonly detail?: string;
  readonly config?: FastifyContextConfig;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Table of the HTTP methods that each path supports. The server uses it to answer other methods with 405. */
    methodTable: {
      add(url: string, allowed: AllowedMethods): void;
      /**
       * Returns the supported methods of the path of a request; `undefined` if no route has the
       * path. Also sets the members `params` and `allowed` of the request.
       */
      find(request: FastifyRequest): AllowedMethods | undefined;
    };
  }

  interface FastifyRequest {
    /** Supported methods of the requested path if no route supports the request's method; otherwise `null`. */
    allowed: AllowedMethods | null;
  }
}

/** Returns the route configuration of the requested path, even if the path does not support the request's method. */
export function configOf({ allowed, routeOptions }: FastifyRequest): FastifyContextConfig {
  return allowed?.config ?? routeOptions.config ?? {};
}

/**
 * Registers all HTTP methods that Node can parse, so that unsupported methods get status 405. Adds `methodTable`, the
 * table of the methods that each path supports, to `app`. Call this function before you add a hook that reads the
 * configuration of a route.
 */
export function setMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const router = createRouter({ maxParamLength: maxUrlBytes });
  const unused: Handler<never> = () => undefined;
  app.decorateRequest('allowed', null);
  app.decorate('methodTable', {
    add: (url, allowed) => router.on('GET', url, unused, allowed),
    find: (request) => {
      const [path = ''] = (request.raw.url ?? '').split('?', 1);
      const found = router.find('GET', path);
      if (found === null) return undefined;
      request.params = found.params;
      request.allowed = found.store as AllowedMethods; // only `add` fills the router
      return request.allowed;
    },
  } satisfies FastifyInstance['methodTable']);
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasNoRoute(request)) app.methodTable.find(request);
    done();
  });
}

function hasNoRoute({ is404, routeOptions }: FastifyRequest): boolean {
  return is404 || routeOptions.url === '*';
}

/** Answers requests that match no route: a CORS preflight with 204, others with 404 or 405 (RFC 9110 §15.5.6). */
export function refuseUnrouted(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!hasNoRoute(request)) return done();
    const problem = refuseMethod(request, reply, request.allowed);
    if (problem !== undefined) done(problem);
  });
}

function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: AllowedMethods | null,
): Problem | undefined {
  if (allowed?.isRoute?.(request) === false || allowed === null) return routeNotFound(request);
  if (isPreflight(request) && configOf(request).cors !== false) {
    reply.code(204).send();
    return undefined;
  }
  const { allow, detail = `This route supports ${allow.join(' and ')}.` } = allowed;
  return new Problem('method_not_allowed', { detail, allow });
}

/** Registers routes that answer unsupported methods of a path with 405. The `onRequest` hooks of `app` run first. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: AllowedMethods) {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const problem = refuseMethod(request, reply, allowed);
    if (problem !== undefined) throw problem;
    return reply;
  };
  const method = app.supportedMethods.filter((name) => !allowed.allow.includes(name));
  const { config = {} } = allowed;
  // In `onRequest`, so that the body is not read.
  app.route({ method, url, config, onRequest: refuse, handler: refuse });
}

/** Registers a route that answers all methods with 404 `route_not_found`. The `onRequest` hooks of `app` run first. */
export function refuseAll(app: FastifyInstance, url: string): void {
  const refuse = async (request: FastifyRequest) => {
    throw routeNotFound(request);
  };
  const method = [...app.supportedMethods];
  // In `onRequest`, so that the body is not read.
  app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}
