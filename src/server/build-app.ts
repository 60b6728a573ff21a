import type { FastifyInstance } from 'fastify';
import { createHostCheck, createOrigins } from '../lib/http/origins.ts';
import { type CleanupStack, createCleanupStack } from '../lib/scheduling/cleanup-stack.ts';
import { refuseRequests, setAdmission, takeTurns } from '../routes/admission/admission.ts';
import { boundBodies, boundReplies } from '../routes/admission/body-limits.ts';
import { createCompression, setCompression } from '../routes/compression.ts';
import { setCors } from '../routes/cors.ts';
import { setCommonHeaders } from '../routes/headers.ts';
import { createAccessLog } from '../routes/monitoring/access-log.ts';
import { refuseLivenessMethods, serveLiveness } from '../routes/monitoring/probes.ts';
import { createProblemPages } from '../routes/pages/problem-page.ts';
import { routeNotFound, setErrorHandler } from '../routes/problems.ts';
import { createPathSuggestions } from '../routes/reads/near-path.ts';
import { sessionService } from '../sessions/http/plugin.ts';
import type { AppOptions } from './context.ts';
import { listPaths } from './endpoints.ts';
import { operatorSurface } from './operator-surface.ts';
import { readSurface, type Surface } from './read-surface.ts';
import { setRequestTracing } from './request-tracing.ts';
import { createReporter, createServer } from './server.ts';
import { openServices, type Services } from './wiring/services.ts';
import { type AnsweredSessions, toCallerRules, writeAddressFile } from './wiring/sessions.ts';

/** Server with a count of operations in progress and functions that shut it down. */
export type App = Awaited<ReturnType<typeof openApp>>;

/** Builds the server. Closes all opened resources if that fails, or when the server closes. */
export async function buildApp(options: AppOptions): Promise<App> {
  const opened = createCleanupStack();
  try {
    return await openApp(options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function openApp(options: AppOptions, opened: CleanupStack) {
  const services = await openServices(options, opened);
  const { config, site, fetching, access, sessions, traffic, work } = services;
  const readiness = { draining: false };
  const baseUrl = config.PERCH_BASE_URL;
  const writePage = createProblemPages(site);
  const server = createServer({ ...services, writePage });
  server.addHook('onClose', opened.close);
  const lines = { lines: config.PERCH_ACCESS_LOG, slowMs: config.PERCH_SLOW_REQUEST_MS };
  const accessLog = traffic.countReplies(createAccessLog(server, lines));
  const prefix = sessions === null ? null : config.PERCH_SESSION_PREFIX;
  const suggestPath = createPathSuggestions(listPaths(prefix));
  setErrorHandler(server, { baseUrl, accessLog, writePage, suggestPath });
  server.decorate('compression', createCompression());
  setRequestTracing(server, services.tracing, baseUrl);
  setCommonHeaders(server);
  const checkHost = createHostCheck(baseUrl, config.HOST);
  const surface = { ...fetching, ...access, ...services, accessLog };
  server.addHook('onListen', async () => sessions?.start());
  if (sessions !== null) writeAddressFile(server, config);
  server.register(async (app) => {
    setAdmission(app, checkHost);
    serveLiveness(app);
  });
  server.register(async (app) => {
    await setCors(app);
    takeTurns(app, services.loop, access.clientOf);
    setAdmission(app, checkHost);
    refuseRequests(app, readiness);
    refuseLivenessMethods(app);
    addBodyHooks(app, services);
    app.register(readSurface, surface);
    app.register(operatorSurface, surface);
    if (sessions !== null) app.register(sessionService, toSessionOptions(sessions, surface));
  });
  await server.ready();
  return {
    server,
    /** Starts the shutdown: the server answers new requests with 503 `shutting_down`. */
    startDraining: () => {
      readiness.draining = true;
      sessions?.service.startDraining();
    },
    /** Ends reads in progress with 503 `shutting_down`, and all answers and session streams. */
    cutOff: () => {
      fetching.stop();
      void sessions?.service.cutOff(); // closing the server waits for this
    },
    /** Number of reads of posts and answers to session questions in progress. */
    get inFlight() {
      return work.inFlight + (sessions?.service.turns.atWork ?? 0);
    },
  };
}

function addBodyHooks(app: FastifyInstance, { access, identification }: Services): void {
  const limits = { quotas: access.quotas, clientOf: identification.clientOf };
  app.setNotFoundHandler((request) => {
    throw routeNotFound(request);
  });
  boundBodies(app, limits);
  boundReplies(app, limits);
  // Last, so that the limits count the memory of a reply while it is being compressed.
  setCompression(app);
}

function toSessionOptions({ service }: AnsweredSessions, { config, clientOf, accessLog }: Surface) {
  const prefix = `/${config.PERCH_SESSION_PREFIX}`;
  return {
    service,
    prefix,
    base: `${prefix}/v1`,
    rules: toCallerRules(config),
    origins: config.PERCH_SESSION_ORIGINS,
    pages: createOrigins(config.PERCH_BASE_URL, config.PERCH_SESSION_ORIGINS),
    clientOf,
    problems: createReporter(config.PERCH_BASE_URL, accessLog),
  };
}
