import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter, { type Handler } from 'find-my-way';
import { Problem } from '../core/problem.ts';
import { isPreflight } from './cors.ts';
import { maxUrlBytes, routeNotFound } from './errors.ts';

interface AllowedMethods {
  readonly allow: readonly string[];
  /** Returns whether path parameters such as the handle are valid; if not, 404. Default: yes. */
  readonly isRoute?: (request: FastifyRequest) => boolean;
  /** Detail text for unsupported methods. Default: a list of the supported methods. */
  readonly detail?: string;
  readonly config?: FastifyContextConfig;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Table of the HTTP methods that each path supports; others get 405. */
    methodTable: {
      add(url: string, allowed: AllowedMethods): void;
      /** Returns the methods of a path, or `undefined`. Also sets `params` and `allowed`. */
      find(request: FastifyRequest): AllowedMethods | undefined;
    };
  }

  interface FastifyRequest {
    /** Methods of the path if none of its routes supports the request's; otherwise `null`. */
    allowed: AllowedMethods | null;
  }
}

/** Returns the configuration of the path, even if it does not support the request's method. */
export function configOf({ allowed, routeOptions }: FastifyRequest): FastifyContextConfig {
  return allowed?.config ?? routeOptions.config ?? {};
}

/** Registers all methods, for status 405. Call it before adding hooks that read route options. */
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

/** Answers unrouted requests: CORS preflight with 204, others 404 or 405 (RFC 9110 §15.5.6). */
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

/** Answers unsupported methods of a path with 405, after the `onRequest` hooks of `app`. */
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

/** Answers all methods with 404 `route_not_found`, after the `onRequest` hooks of `app`. */
export function refuseAll(app: FastifyInstance, url: string): void {
  const refuse = async (request: FastifyRequest) => {
    throw routeNotFound(request);
  };
  const method = [...app.supportedMethods];
  // In `onRequest`, so that the body is not read.
  app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}
