import type { FastifyInstance } from 'fastify';
import { createHostCheck } from '../core/http/origins.ts';
import { type CleanupStack, createCleanupStack } from '../core/scheduling/cleanup-stack.ts';
import { createServerLoop, type ServerLoop } from '../core/scheduling/loop.ts';
import { createHeavyTurns } from '../core/scheduling/turns.ts';
import { openTracing, type Tracing } from '../core/tracing/tracing.ts';
import { type Readiness, setAdmission, takeTurns } from '../http/admission/admission.ts';
import { setKeyStatus } from '../http/key-status/plugin.ts';
import { setLifecycle } from '../http/lifecycle/lifecycle.ts';
import { createWork, openLoadGauge } from '../http/operations/load.ts';
import { createTraffic } from '../http/operations/traffic.ts';
import { createProblemPages } from '../http/pages/problem-page.ts';
import { createPathSuggestions } from '../http/reads/near-path.ts';
import { createAccessLog, recordArrivals } from '../web/access-log.ts';
import { setCompression } from '../web/compression.ts';
import { setCors } from '../web/cors.ts';
import { setProblemHandlers } from '../web/errors.ts';
import { setCommonHeaders } from '../web/headers.ts';
import { refuseUnrouted, setMethods } from '../web/methods.ts';
import { boundBodies } from '../web/request-bodies.ts';
import { setRequestTracing } from '../web/request-tracing.ts';
import { boundReplies } from '../web/unread-bodies.ts';
import { listPaths } from './endpoints.ts';
import { openAccess } from './open/access.ts';
import { openAnsweredSessions } from './open/answered-sessions.ts';
import { toSite } from './open/documents.ts';
import { openFetching } from './open/fetching.ts';
import { writeAddressFile } from './open/sessions.ts';
import { openSharedEngine } from './open/shared-engine.ts';
import type { AppOptions } from './options.ts';
import { createRequestIds } from './request-ids.ts';
import { createServer } from './server.ts';
import { registerSurfaces, type Services } from './surfaces.ts';

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
  const { config, tracing = openTracing() } = options;
  const readiness = { draining: false };
  const work = createWork();
  const sharedEngine = await openSharedEngine(options);
  if (sharedEngine !== null) opened.add(sharedEngine.close);
  const access = await openAccess(options, sharedEngine);
  opened.add(access.close);
  const traffic = createTraffic();
  const loop = createServerLoop();
  const shared = { ledger: access.ledger, heavyTurns: createHeavyTurns(loop) };
  const bounded = { ...options, ...shared, tracing, sharedEngine, pool: access.allowances.pool };
  const fetching = await openFetching({ ...bounded, countAnswers: traffic.countAnswers });
  opened.add(fetching.close);
  const sessions = await openAnsweredSessions(bounded);
  if (sessions !== null) opened.add(sessions.close);
  const load = options.load ?? openLoadGauge(config.PERCH_MAX_EVENT_LOOP_DELAY_MS);
  opened.add(() => load.close());
  const identification = options.identification ?? access.identification;
  const site = toSite(options, fetching.context, sessions !== null);
  const writePage = createProblemPages(site);
  const requestIds = createRequestIds(options.random);
  const server = createServer({ ...options, writePage, requestIds }, access, identification);
  server.addHook('onClose', opened.close);
  server.addHook('onListen', async () => sessions?.start());
  if (sessions !== null) writeAddressFile(server, config);
  const lines = { lines: config.PERCH_ACCESS_LOG, slowMs: config.PERCH_SLOW_REQUEST_MS };
  const accessLog = traffic.countReplies(createAccessLog(server, lines));
  const prefix = sessions === null ? null : config.PERCH_SESSION_PREFIX;
  const suggestPath = createPathSuggestions(listPaths(prefix));
  const baseUrl = config.PERCH_BASE_URL;
  setProblemHandlers(server, { baseUrl, accessLog, writePage, suggestPath });
  const serving = { site, identification, access, fetching, sessions, traffic, work, load };
  const { settings = new Map(), startWarnings = [] } = options;
  const services = { ...bounded, ...serving, requestIds, settings, startWarnings };
  await addHooks(server, { ...services, loop }, readiness);
  registerSurfaces(server, { ...services, accessLog });
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

interface HookServices {
  readonly tracing: Tracing | null;
  readonly loop: ServerLoop;
}

async function addHooks(
  server: FastifyInstance,
  services: Omit<Services, 'accessLog'> & HookServices,
  readiness: Readiness,
): Promise<void> {
  const { config, identification, access, tracing, loop } = services;
  recordArrivals(server);
  setRequestTracing(server, { tracing, baseUrl: config.PERCH_BASE_URL });
  takeTurns(server, loop, access.clientOf);
  setMethods(server);
  setCommonHeaders(server);
  setKeyStatus(server, identification);
  setLifecycle(server, config.PERCH_BASE_URL);
  await setCors(server);
  setAdmission(server, readiness, createHostCheck(config.PERCH_BASE_URL, config.HOST));
  refuseUnrouted(server);
  const limits = { ledger: access.ledger, clientOf: identification.clientOf };
  boundBodies(server, limits);
  boundReplies(server, limits);
  // Last, so that the limits count the memory of a reply while it is being compressed.
  setCompression(server);
}
