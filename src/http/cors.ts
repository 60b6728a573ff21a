import fastifyCors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The response headers that a page of another origin may read (decisions section 4). */
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

/** What every public reply tells a browser: any origin may read it, without credentials. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
} as const;

/** Seconds that a browser may remember a preflight; the most that any of them takes. */
const preflightSeconds = 86_400;

/**
 * Lets pages of any origin call the public routes (decisions section 4). A route that sends
 * `corsHeaders` itself, or is not public, has `cors: false` in its configuration. Preflights go on to
 * the route, which ends them with `isPreflight`.
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

/** Tells whether a request asks what another one may do (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
