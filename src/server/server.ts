import type { ServerOptions as HttpOptions, Server } from 'node:http';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Config } from '../config/config.ts';
import { createBoundServer, createReplyQueues } from '../routes/admission/admission.ts';
import {
  createRefusals,
  createUnroutedHeaders,
  describeRefused,
  type RefusedPath,
} from '../routes/admission/refusals.ts';
import { toCommonHeaders } from '../routes/headers.ts';
import { type AccessLog, silentAccessLog } from '../routes/monitoring/access-log.ts';
import {
  describeProblem,
  maxUrlBytes,
  recordProblem,
  sendProblem,
  toProblem,
  type WriteProblemPage,
} from '../routes/problems.ts';
import { toPath } from '../routes/reads/routes.ts';
import { toCanonicalTarget, withRoutedMethod } from '../routes/route.ts';
import {
  type ProblemReplies,
  sendSessionProblem,
  toSessionDocument,
} from '../sessions/http/reply.ts';
import type { Services } from './wiring/services.ts';

/** Returns the functions with which session routes report errors as all other routes do. */
export function createReporter(baseUrl: string, accessLog: AccessLog): ProblemReplies {
  return {
    toProblem,
    describe: (problem, request) => describeProblem(problem, request, baseUrl),
    note: (problem, _request, reply) => recordProblem(problem, reply, accessLog),
  };
}

function isSessionPath(url: string, { PERCH_SESSIONS, PERCH_SESSION_PREFIX }: Config): boolean {
  return PERCH_SESSIONS && toPath(url).startsWith(`/${PERCH_SESSION_PREFIX}/`);
}

type ServerOptions = Services & { readonly writePage: WriteProblemPage };

const toHttpOptions = ({ PERCH_REQUEST_TIMEOUT_MS: timeoutMs }: Config): HttpOptions => ({
  requireHostHeader: false,
  maxHeaderSize: 16_384,
  headersTimeout: timeoutMs,
  requestTimeout: timeoutMs,
  connectionsCheckingInterval: Math.min(5000, timeoutMs),
  keepAliveTimeout: 72_000,
});

function refuseSchemas(): never {
  throw new Error('A route has a Fastify schema. Validate with zod instead.');
}

/** Creates the Fastify server. The caller must add error handlers, hooks and routes. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { config, logger, writePage, requestIds, access, identification } = options;
  const baseUrl = config.PERCH_BASE_URL;
  // Unreadable requests to session routes get no CORS headers.
  const describe = (url: string): RefusedPath =>
    isSessionPath(url, config)
      ? { headers: {}, toDocument: toSessionDocument }
      : { headers: describeRefused(url, baseUrl) };
  const queues = createReplyQueues();
  const refusals = createRefusals({ baseUrl, requestId: requestIds.next, describe, queues });
  const { quotas, connectionOf: clientOf } = access;
  const bounds = { quotas, clientOf, refuse: refusals.refuse, queues };
  const describeUnrouted = createUnroutedHeaders(identification, baseUrl);
  const server = Fastify<Server>({
    logController: new LogController({ disableRequestLogging: true }),
    // As an option, the logger would make Fastify add listeners to each response. Log lines name
    // the request id themselves.
    childLoggerFactory: () => logger,
    genReqId: requestIds.next,
    // Before the router and all hooks, which then know only one form of each path.
    rewriteUrl: (request) => toCanonicalTarget(withRoutedMethod(request).url ?? ''),
    clientErrorHandler: refusals.onClientError,
    // For undecodable paths, for which Fastify runs no hook.
    frameworkErrors: async (error, request, reply) => {
      const accessLog = silentAccessLog;
      reply.headers(toCommonHeaders(request.id));
      if (isSessionPath(request.raw.url ?? '', config)) {
        return sendSessionProblem(error, { request, reply }, createReporter(baseUrl, accessLog));
      }
      const headers = await describeUnrouted(request);
      return sendProblem(reply, toProblem(error, request), {
        ...{ headers, baseUrl, writePage, accessLog },
      });
    },
    serverFactory: (handle) =>
      createBoundServer(toHttpOptions(config), handle, bounds).setTimeout(120_000),
    // Routes with larger bodies set a limit of their own.
    bodyLimit: 65_536,
    // Routes validate with zod. Otherwise Fastify would load ajv and fast-json-stringify.
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: maxUrlBytes,
      // Read routes parse the query themselves, and cache the result by URL.
      querystringParser: () => ({}),
    },
  });
  server.log = logger;
  server.server.on('connect', refusals.onConnect);
  // A server may ignore an unknown expectation (RFC 9110 §10.1.1).
  server.server.on('checkExpectation', (...exchange) => server.server.emit('request', ...exchange));
  return server;
}
