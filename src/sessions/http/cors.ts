import type { CorsPolicy } from '../../web/cors.ts';

/** The web origins whose pages may use sessions; `*` for any. None: CORS is off. */
export type Origins = readonly string[];

const exposedHeaders = [
  'X-Eve-Session-Id',
  'X-Session-Id',
  'X-Request-Id',
  'X-Eve-Stream-Version',
  'X-Stream-Version',
  'X-Eve-Stream-Format',
  'X-Stream-Format',
  'X-Eve-Stream-Tail-Index',
  'X-Stream-Tail-Index',
  'X-Accel-Buffering',
  'Location',
  'Retry-After',
];

const allowedHeaders = ['X-Continuation-Token', 'Authorization', 'Content-Type', 'Idempotency-Key'];

/** Returns the CORS policy of a session route that answers some methods. */
export function toSessionCors(origins: Origins, methods: string[]): CorsPolicy | false {
  if (origins.length === 0) return false;
  const origin = origins.includes('*') ? '*' : [...origins];
  return { origin, methods, exposedHeaders, allowedHeaders };
}
