import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Origins } from '../core/http/origins.ts';

/** The rights of pages of other origins to use a route. */
export type CorsPolicy = FastifyCorsOptions;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The policy of a route for pages of other origins, over that of the whole server; `false` for no CORS headers. */
    cors?: CorsPolicy | false;
  }
}

/** Response headers that a page of another origin may read. */
export const exposedHeaders = [
  'Deprecation',
  'Sunset',
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Api-Key-Status',
  'X-Source',
  'X-Cache',
  'X-Result-Count',
  'X-Search-Degraded',
  'X-Request-Id',
  'ETag',
];

export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
} as const;

/**
 * Lets pages of any origin call the server, unless the configuration of a route has a policy of its own.
 * Preflights go on to the refusal of the method, which ends them with 204.
 */
export async function setCors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD'],
    exposedHeaders,
    maxAge: 86_400, // seconds; the most that any browser takes
    preflightContinue: true,
    strictPreflight: false,
  });
}

/** Closes a scope to pages of other origins: 403 `origin_not_allowed`, and no CORS headers. */
export function closeToPages(app: FastifyInstance, origins: Origins): void {
  sendNoCors(app);
  app.addHook('onRequest', (request, _reply, done) => {
    done(origins.faultOf(request.headers) ?? undefined);
  });
}

/** Keeps the CORS headers of the whole server from the routes of a scope. */
export function sendNoCors(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, cors: false };
  });
}

/** Returns the configuration of a route that pages of the allowed origins may call. */
export function toCorsPolicy(
  origins: Pick<Origins, 'allowed'>,
  policy: Pick<CorsPolicy, 'methods' | 'exposedHeaders' | 'allowedHeaders'>,
): CorsPolicy {
  return {
    ...policy,
    origin: (origin, callback) => callback(null, origins.allowed({ origin }) ?? false),
  };
}

/** Returns whether a request asks what another one may do (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
