import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HostCheck } from '../../core/http/origins.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerLoop } from '../../core/scheduling/loop.ts';
import { createTurns } from '../../core/scheduling/turns.ts';
import { maxUrlBytes } from '../../web/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route works during shutdown; others answer 503 `shutting_down`. */
    decidesWhileDraining?: boolean;
  }
}

export type Readiness = { readonly draining: boolean };

/** Rejects invalid `Host` headers, overlong URLs and, during a shutdown, most requests. */
export function setAdmission(app: FastifyInstance, readiness: Readiness, checkHost: HostCheck) {
  app.addHook('onRequest', (request, reply, done) => {
    const fault = findFault(request.raw) ?? checkHost(request.raw.headers.host);
    if (fault?.code === 'malformed_request') reply.header('connection', 'close');
    if (fault !== null || !readiness.draining || isAcceptedWhileDraining(request)) {
      return done(fault ?? undefined);
    }
    done(new Problem('shutting_down', { detail: 'The server is shutting down.' }));
  });
}

function findFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): Problem | null {
  // RFC 9112 §3.2 requires exactly one `Host` header. Node accepts several headers.
  const hosts = rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
  ).length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    const detail = `The request has ${hosts === 0 ? 'no' : 'more than one'} \`Host\` header.`;
    return new Problem('malformed_request', { detail });
  }
  if (url.length <= maxUrlBytes) return null;
  return new Problem('uri_too_long', { detail: `The URL is longer than ${maxUrlBytes} bytes.` });
}

function isAcceptedWhileDraining({ raw: { url = '' }, routeOptions }: FastifyRequest): boolean {
  return (
    url.split('?', 1)[0] === '/health/live' || routeOptions.config?.decidesWhileDraining === true
  );
}

const turnLimits = { each: 16, ms: 20 };

/** Schedules requests so that a client with many requests does not delay the others. */
export function takeTurns(
  app: FastifyInstance,
  loop: ServerLoop,
  addressOf: (request: FastifyRequest) => string,
): void {
  const turns = createTurns(turnLimits, loop);
  app.server.on('connection', loop.noteConnection);
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(addressOf(request), () => {
      const isConnected = !request.raw.socket?.destroyed;
      if (isConnected) done();
      return isConnected;
    });
  });
}
