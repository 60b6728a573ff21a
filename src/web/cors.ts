import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Origins } from '../core/http/origins.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for a route whose replies get no CORS headers from the whole server. */
    cors?: boolean;
  }
}

/** The response headers that a page of another origin may read. */
const exposedHeaders = [
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

/** The headers of every reply that pages of any origin may read, without credentials. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
} as const;

/** Seconds that a browser may remember a preflight; the most that any of them takes. */
const preflightSeconds = 86_400;

/**
 * Lets pages of any origin call reads and discovery documents. A route that sends `corsHeaders` itself, or
 * is closed to pages, has `cors: false` in its configuration. Preflights go on to the route, which ends
 * them with `isPreflight`.
 */
export async function setCors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD'],
    exposedHeaders,
    maxAge: preflightSeconds,
    preflightContinue: true,
    strictPreflight: false,
  });
}

/**
 * Closes the routes of a scope to pages of other origins: their requests are 403 `origin_not_allowed`, and
 * no reply has CORS headers.
 */
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

/** Tells whether a request asks what another one may do (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
