import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Origins } from '../lib/http/origins.ts';

export type CorsPolicy = FastifyCorsOptions;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** CORS options of a route that override the server's; `false` for no CORS headers. */
    cors?: CorsPolicy | false;
  }
}

/** Response headers that web pages of other origins may read (CORS exposed headers). */
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

/** Allows CORS requests from any origin, except on routes with their own `cors` options. */
export async function setCors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD'],
    exposedHeaders: corsHeaders['access-control-expose-headers'],
    maxAge: 86_400, // seconds; no browser caches a preflight for longer
    preflightContinue: true,
    strictPreflight: false,
  });
}

/** Rejects other origins with 403 `origin_not_allowed`, and turns off CORS headers. */
export function rejectOtherOrigins(app: FastifyInstance, origins: Origins): void {
  disableCors(app);
  app.addHook('onRequest', (request, _reply, done) => {
    done(origins.faultOf(request.headers) ?? undefined);
  });
}

export function disableCors(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, cors: false };
  });
}

/** Returns the CORS options of a route that only web pages of the origins in `origins` may call. */
export function toCorsPolicy(
  origins: Pick<Origins, 'allowed'>,
  policy: Pick<CorsPolicy, 'methods' | 'exposedHeaders' | 'allowedHeaders'>,
): CorsPolicy {
  return {
    ...policy,
    origin: (origin, callback) => callback(null, origins.allowed({ origin }) ?? false),
  };
}

/** Returns whether a request is a CORS preflight (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
