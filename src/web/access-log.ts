import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toInstance } from './instance.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    hidesQuery?: boolean;
  }
}

interface AccessLogOptions {
  /** The requests that get a line; `errors` are those that fail or are slow. */
  readonly lines: 'errors' | 'all' | 'off';
  readonly slowMs: number;
}

/** Writes a line for requests that deserve one. Never a header or a body. */
export interface AccessLog {
  /** Called with replies that may deserve a line: problems, and reads that had to wait. */
  notice(request: FastifyRequest, reply: FastifyReply, status: number): void;
}

/** For what the router refuses before any hook: malformed paths, which are no failures of ours. */
export const silentAccessLog: AccessLog = { notice: () => undefined };

/** Creates the log; with `all` a hook writes the lines instead. */
export function createAccessLog(app: FastifyInstance, options: AccessLogOptions): AccessLog {
  const { lines, slowMs } = options;
  if (lines === 'all') {
    app.addHook('onResponse', (request, reply, done) => {
      writeLine(request, reply, reply.statusCode);
      done();
    });
  }
  return {
    notice: (request, reply, status) => {
      if (lines !== 'errors' || (status < 500 && reply.elapsedTime < slowMs)) return;
      writeLine(request, reply, status);
    },
  };
}

function toLoggedUrl({ raw: { url = '' }, routeOptions }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1);
  if (routeOptions.config?.hidesQuery !== true || path === url) return toInstance(url);
  return `${toInstance(path)}?…`;
}

function writeLine(request: FastifyRequest, reply: FastifyReply, status: number): void {
  request.log[status >= 500 ? 'warn' : 'info'](
    {
      request_id: request.id,
      method: request.method,
      url: toLoggedUrl(request),
      status,
      duration_ms: Math.round(reply.elapsedTime),
      ...(reply.problemCode === null ? {} : { code: reply.problemCode }),
    },
    'request answered',
  );
}
