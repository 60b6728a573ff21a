import type { FastifyInstance } from 'fastify';
import { toInstance } from './errors.ts';

/** Which requests get a line, and when one is slow. */
export interface AccessLogOptions {
  readonly lines: 'errors' | 'all' | 'off';
  readonly slowMs: number;
}

/** Logs a line for each answered request that the options ask for. Never a header or a body. */
export function setAccessLog(app: FastifyInstance, { lines, slowMs }: AccessLogOptions): void {
  if (lines === 'off') return;
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode, elapsedTime } = reply;
    const failed = statusCode >= 500;
    if (lines === 'all' || failed || elapsedTime >= slowMs) {
      request.log[failed ? 'warn' : 'info'](
        {
          request_id: request.id,
          method: request.method,
          url: toInstance(request.raw.url ?? ''),
          status: statusCode,
          duration_ms: Math.round(elapsedTime),
          ...(reply.problemCode === null ? {} : { code: reply.problemCode }),
        },
        'request answered',
      );
    }
    done();
  });
}
