import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../core/problem.ts';

/** Whether the process takes work. One owner, `app.ts`; everybody else reads it. */
export interface Readiness {
  readonly draining: boolean;
}

/** The most bytes of a request's URL. */
export const maxUrlBytes = 8192;

/**
 * Refuses requests before anything else looks at them: without a host, with an endless URL, or
 * while the process drains.
 */
export function setAdmission(app: FastifyInstance, readiness: Readiness): void {
  app.addHook('onRequest', (request, reply, done) => {
    const problem = refusal(request, readiness);
    if (problem?.code === 'malformed_request') reply.header('connection', 'close');
    done(problem);
  });
}

function refusal(request: FastifyRequest, readiness: Readiness): Problem | undefined {
  const { raw } = request;
  // RFC 9112 §3.2: a request without `Host` is refused. Node would do it without a document.
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    return new Problem('malformed_request', { detail: 'The request has no `Host` header.' });
  }
  if ((raw.url ?? '').length > maxUrlBytes) {
    return new Problem('uri_too_long', {
      detail: `The URL is over ${maxUrlBytes} bytes.`,
    });
  }
  if (readiness.draining && !isLiveness(raw.url)) {
    return new Problem('shutting_down', { detail: 'This process is about to stop.' });
  }
  return undefined;
}

/** The process is alive until it ends: draining changes nothing about that. */
function isLiveness(url = ''): boolean {
  return url.split('?', 1)[0] === '/health/live';
}
