import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toLogFields } from '../../lib/tracing/tracing.ts';
import { toInstance } from '../problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    hidesQuery?: boolean;
    /** Whether the route is a health check, whose status 503 is no failure of a request. */
    isProbe?: boolean;
  }
}

export const elapsedMs = ({ arrivedMs }: Pick<FastifyRequest, 'arrivedMs'>): number =>
  performance.now() - arrivedMs;

interface AccessLogOptions {
  /** Requests to log; `errors`: those of `slowMs` or longer, or with status 500 or higher. */
  readonly lines: 'errors' | 'all' | 'off';
  readonly slowMs: number;
}

/** Log with one line per request. The lines never contain headers or bodies. */
export interface AccessLog {
  /** Logs a request of status 500 or higher, or of `slowMs` or longer, if `lines` is `errors`. */
  logIfNotable(request: FastifyRequest, reply: FastifyReply, status: number): void;
}

/** Log that writes nothing, for malformed paths, which the router rejects before any hook. */
export const silentAccessLog: AccessLog = { logIfNotable: () => undefined };

/** Creates the log. A hook logs with `lines: 'all'`; only `logIfNotable` does with `'errors'`. */
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

/** Returns path and query; hides the query of an unrouted path, because it may be private. */
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
      method: request.raw.sentMethod ?? request.method,
      url: toLoggedUrl(request, reply),
      status,
      duration_ms: Math.round(elapsedMs(request)),
      ...(reply.problemCode === null ? {} : { code: reply.problemCode }),
    },
    'request answered',
  );
}
