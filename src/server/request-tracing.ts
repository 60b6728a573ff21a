import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseUrl } from '../lib/http/url.ts';
import type { Attributes } from '../lib/tracing/span-table.ts';
import {
  readTraceContext,
  type TraceSpan,
  type Tracing,
  toServerAttributes,
} from '../lib/tracing/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Span of the request; `undefined` if tracing is off. */
    span: TraceSpan | undefined;
  }
}

/**
 * Starts a span for each request, until its response ends (OpenTelemetry, HTTP server spans). If
 * `tracing` is `null`, no hook runs.
 */
export function setRequestTracing(
  app: FastifyInstance,
  tracing: Tracing | null,
  baseUrl: string,
): void {
  app.decorateRequest('span', undefined);
  if (tracing === null) return;
  const base = parseUrl(baseUrl);
  const server = base === null ? {} : toServerAttributes(base);
  app.addHook('onRequest', (request, reply, done) => {
    const { method, name } = describeMethod(request);
    const attributes = { ...server, ...describeRequest(request), 'http.request.method': method };
    const parent = readTraceContext(request.headers);
    const span = tracing.start('request', { name, attributes, parent });
    request.span = span;
    endWithReply(span, reply);
    done();
  });
}

const knownMethods = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
);

function describeMethod({ raw, method: routed, routeOptions: { url } }: FastifyRequest) {
  const method = raw.sentMethod ?? routed;
  const isKnown = knownMethods.has(method);
  const verb = isKnown ? method : 'HTTP';
  return {
    method: isKnown ? method : '_OTHER',
    name: url === undefined ? verb : `${verb} ${url}`,
  };
}

function describeRequest({ id, raw, routeOptions: { url } }: FastifyRequest): Attributes {
  return {
    'http.route': url,
    'url.path': url === undefined || /[:*]/.test(url) ? undefined : url,
    'network.protocol.version': raw.httpVersion,
    'perch.request_id': id,
  };
}

function endWithReply(span: TraceSpan, reply: FastifyReply): void {
  const { raw } = reply;
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    if (!raw.writableFinished) span.set({ 'error.type': 'aborted' });
    if (raw.headersSent) recordReply(span, reply);
    span.end();
  };
  raw.once('finish', end).once('close', end);
}

function recordReply(span: TraceSpan, { raw: { statusCode }, problemCode }: FastifyReply): void {
  span.set({
    'http.response.status_code': statusCode,
    'perch.problem.code': problemCode ?? undefined,
  });
  // The span of a server counts as failed only if the status is 500 or higher.
  if (statusCode >= 500) span.fail(problemCode ?? String(statusCode));
}
