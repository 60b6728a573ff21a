import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HostCheck } from '../../core/http/origins.ts';
import { Problem } from '../../core/problem.ts';
import { maxUrlBytes } from '../../web/limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that decides for itself what it answers while the process drains. */
    decidesWhileDraining?: boolean;
  }
}

/** Whether the process takes work. One owner, `app.ts`; everybody else reads it. */
export interface Readiness {
  readonly draining: boolean;
}

/**
 * Refuses requests before anything else looks at them: without a host or under a foreign one, with an
 * endless URL, or while the process drains.
 */
export function setAdmission(
  app: FastifyInstance,
  readiness: Readiness,
  checkHost: HostCheck,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const problem = refusal(request, readiness, checkHost);
    if (problem?.code === 'malformed_request') reply.header('connection', 'close');
    done(problem);
  });
}

function refusal(
  request: FastifyRequest,
  readiness: Readiness,
  checkHost: HostCheck,
): Problem | undefined {
  const { raw } = request;
  const refused = malformation(raw) ?? checkHost(raw.headers.host);
  if (refused !== null) return refused;
  if (readiness.draining && !decidesItself(request)) {
    return new Problem('shutting_down', { detail: 'This process is about to stop.' });
  }
  return undefined;
}

function malformation({ rawHeaders, httpVersion, url = '' }: IncomingMessage): Problem | null {
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

/** Counts `Host` in a list of names and values in turn. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}

/** The process is alive until it ends: draining changes nothing about that. Sessions go on for a while. */
function decidesItself({ raw: { url = '' }, routeOptions }: FastifyRequest): boolean {
  return (
    url.split('?', 1)[0] === '/health/live' || routeOptions.config?.decidesWhileDraining === true
  );
}
