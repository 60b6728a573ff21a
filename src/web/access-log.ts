import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toLogFields } from '../core/tracing/tracing.ts';
import { toInstance } from './instance.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    hidesQuery?: boolean;
    /** Whether the route is a health check, whose status 503 is no failure of a request. */
    isProbe?: boolean;
  }

  interface FastifyRequest {
    /** Arrival time of the request, in milliseconds of `performance.now()`. */
    arrivedMs: number;
  }
}

/**
 * Records the arrival time of each request. Fastify's own timing is not used, because it adds
 * listeners that slow down each response.
 */
export function recordArrivals(app: FastifyInstance): void {
  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedMs = performance.now();
    done();
  });
}

/** Returns the time since a request arrived, in milliseconds. */
export const elapsedMs = ({ arrivedMs }: Pick<FastifyRequest, 'arrivedMs'>): number =>
  performance.now() - arrivedMs;

interface AccessLogOptions {
  /**
   * Requests to log. `errors`: requests that take `slowMs` milliseconds or longer, or have a status of 500 or higher.
   */
  readonly lines: 'errors' | 'all' | 'off';
  readonly slowMs: number;
}

/** Log with one line per request. The lines never contain headers or bodies. */
export interface AccessLog {
  /**
   * Logs a request with status 500 or higher, and a request that took `slowMs` milliseconds or
   * longer. Does nothing unless the access log was created with `lines: 'errors'`.
   */
  logIfNotable(request: FastifyRequest, reply: FastifyReply, status: number): void;
}

/** Access log that writes nothing. Used for malformed paths, which the router rejects before any hook runs. */
export const silentAccessLog: AccessLog = { logIfNotable: () => undefined };

/**
 * Creates the access log. With `lines: 'all'`, a hook logs every request. With `lines: 'errors'`, only `logIfNotable`
 * logs requests. With `lines: 'off'`, nothing is logged.
 */
export function createAccessLog(app: FastifyInstance, options: AccessLogOptions): AccessLog {
  const { lines, slowMs } = options;
  if (lines === 'all') {
    app.addHook('onResponse', (request, reply, done) => {
      writeLine(request, reply, reply.statusCode);
      done();
    });
  }
  return {
    logIfNotable: (request, reply, status) => {
      if (isUnready(request, status)) return;
      if (lines !== 'errors' || (status < 500 && elapsedMs(request) < slowMs)) return;
      writeLine(request, reply, status);
    },
  };
}

/**
 * Returns the path and query of a request for the log. Hides the query of a path without a route, because the path may
 * be the misspelled path of a page whose queries are private.
 */
function toLoggedUrl(request: FastifyRequest, { problemCode }: FastifyReply): string {
  const { originalUrl: url, routeOptions, is404 } = request;
  const [path = ''] = url.split('?', 1);
  const hidesQuery =
    routeOptions.config?.hidesQuery === true || is404 || problemCode === 'route_not_found';
  return hidesQuery && path !== url ? `${toInstance(path)}?…` : toInstance(url);
}

const isUnready = ({ routeOptions }: FastifyRequest, status: number): boolean =>
  status === 503 && routeOptions.config?.isProbe === true;

function writeLine(request: FastifyRequest, reply: FastifyReply, status: number): void {
  request.log[status >= 500 && !isUnready(request, status) ? 'warn' : 'info'](
    {
      request_id: request.id,
      ...toLogFields(request.span),
      method: request.method,
      url: toLoggedUrl(request, reply),
      status,
      duration_ms: Math.round(elapsedMs(request)),
      ...(reply.problemCode === null ? {} : { code: reply.problemCode }),
    },
    'request answered',
  );
}
