import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../../core/caller.ts';
import type { HostCheck } from '../../core/http/origins.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerLoop } from '../../core/scheduling/loop.ts';
import { createTurns } from '../../core/scheduling/turns.ts';
import { maxUrlBytes } from '../../web/limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that decides for itself what it answers while the process drains. */
    decidesWhileDraining?: boolean;
  }
}

export interface Readiness {
  readonly draining: boolean;
}

/** Refuses requests without a host or with a foreign one, with an overlong URL, or while the process drains. */
export function setAdmission(
  app: FastifyInstance,
  readiness: Readiness,
  checkHost: HostCheck,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const problem = findProblem(request, readiness, checkHost);
    if (problem?.code === 'malformed_request') reply.header('connection', 'close');
    done(problem ?? undefined);
  });
}

function findProblem(
  request: FastifyRequest,
  readiness: Readiness,
  checkHost: HostCheck,
): Problem | null {
  const { raw } = request;
  const fault = findFault(raw) ?? checkHost(raw.headers.host);
  if (fault !== null || !readiness.draining || decidesItself(request)) return fault;
  return new Problem('shutting_down', { detail: 'This process is about to stop.' });
}

function findFault({ rawHeaders, httpVersion, url = '' }: IncomingMessage): Problem | null {
  // RFC 9112 §3.2: a request without `Host`, or with several, is refused. Node would refuse the first
  // without a document, and take the second.
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    const fault = hosts === 0 ? 'no' : 'more than one';
    return new Problem('malformed_request', {
      detail: `The request has ${fault} \`Host\` header.`,
    });
  }
  if (url.length <= maxUrlBytes) return null;
  return new Problem('uri_too_long', { detail: `The URL is over ${maxUrlBytes} bytes.` });
}

function countHosts(rawHeaders: readonly string[]): number {
  const isHost = (name: string, at: number) =>
    at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host';
  return rawHeaders.filter(isHost).length;
}

/** The process is alive until it ends, also while it drains. Sessions go on for a while. */
function decidesItself({ raw: { url = '' }, routeOptions }: FastifyRequest): boolean {
  return (
    url.split('?', 1)[0] === '/health/live' || routeOptions.config?.decidesWhileDraining === true
  );
}

const turnLimits = { each: 4, ms: 20 };

/** Lets clients take turns, so that one client's many connections do not delay the requests of others. */
export function takeTurns(
  app: FastifyInstance,
  loop: ServerLoop,
  clientOf: (request: FastifyRequest) => Client,
): void {
  const turns = createTurns(turnLimits, loop);
  app.server.on('connection', loop.noteConnection);
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(clientOf(request).address, () => {
      const isHere = !request.raw.socket?.destroyed;
      if (isHere) done();
      return isHere;
    });
  });
}
