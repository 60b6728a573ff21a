import type { Server } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { packagePath } from '../core/files/package-path.ts';
import { createHostCheck, createOrigins } from '../core/http/origins.ts';
import type { Random } from '../core/random.ts';
import { version } from '../core/version.ts';
import { type Closing, createClosing } from '../core/work/closing.ts';
import { createServerLoop } from '../core/work/loop.ts';
import { createHeavyTurns, type Turns } from '../core/work/turns.ts';
import { createAdminGuard } from '../http/admin/guard.ts';
import { adminKeysPlugin } from '../http/admin/keys.ts';
import { setAdmission } from '../http/admission/admission.ts';
import { boundConnections } from '../http/admission/connections.ts';
import { createRefusals, type RefusedPath } from '../http/admission/refusals.ts';
import { boundReplies } from '../http/admission/reply-bytes.ts';
import { takeTurns } from '../http/admission/take-turns.ts';
import { discoveryPlugin } from '../http/discovery/discovery.ts';
import type { Identification } from '../http/key-status/identity.ts';
import { openApiPlugin } from '../http/openapi/document.ts';
import { problemReply } from '../http/openapi/problems.ts';
import { healthPlugin } from '../http/operations/health.ts';
import { type LoadGauge, openLoadGauge, overloaded } from '../http/operations/load.ts';
import { metricsPlugin } from '../http/operations/metrics.ts';
import { createTraffic, type Traffic } from '../http/operations/traffic.ts';
import { createWork, type Work } from '../http/operations/work.ts';
import { assetsPlugin, createAssets } from '../http/pages/assets.ts';
import { docsPlugin } from '../http/pages/docs/docs-plugin.ts';
import type { Library } from '../http/pages/docs/library.ts';
import { frontPlugin } from '../http/pages/front/plugin.ts';
import { historyRoutesPlugin } from '../http/reads/history-routes.ts';
import { readRoutesPlugin } from '../http/reads/read-routes.ts';
import { createUnroutedHeaders, describeRefused } from '../http/reads/route-headers.ts';
import { aliasRoutes, historyRoutes, readRoutes, toPath } from '../http/reads/routes.ts';
import { mcpPlugin } from '../mcp/plugin.ts';
import { sessionsPlugin } from '../sessions/http/plugin.ts';
import {
  type ProblemTelling,
  sendSessionProblem,
  toSessionDocument,
} from '../sessions/http/reply.ts';
import type { SessionService } from '../sessions/service.ts';
import { type AccessLog, createAccessLog, silentAccessLog } from '../web/access-log.ts';
import { corsHeaders, setCors } from '../web/cors.ts';
import {
  describeProblem,
  noteProblem,
  sendProblem,
  setProblemHandlers,
  toProblem,
} from '../web/errors.ts';
import { maxUrlBytes } from '../web/limits.ts';
import { setMethods } from '../web/methods.ts';
import { type Access, openAccess } from './open/access.ts';
import { type AnsweredSessions, openAnsweredSessions } from './open/answered-sessions.ts';
import { createAsking } from './open/asking.ts';
import { listDocuments, openLibrary, toDiscoveryFacts } from './open/documents.ts';
import { type Fetching, type FetchingOverrides, openFetching } from './open/fetching.ts';
import { measureServer } from './open/metrics.ts';
import { noteAddress, toCallerRules } from './open/sessions.ts';

/** What an app is built of. Tests hand in their own clock, chance and providers. */
export interface AppOptions extends FetchingOverrides {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  /** Default: the delay of the event loop. Closed with the server. */
  readonly load?: LoadGauge;
  /** Default: by keys and client addresses. The bench compares with nobody's identity. */
  readonly identification?: Identification;
  /** Answers the questions of sessions. Default: the configured corpora. */
  readonly engine?: AnswerEngine;
}

/** The server, and the switch that makes it refuse new work. */
export interface App {
  readonly server: FastifyInstance;
  /** From now on new requests get 503 `shutting_down`. */
  startDraining(): void;
  /** Ends the reads that are under way with 503 `shutting_down`, and the turns and streams of sessions. */
  cutOff(): void;
  /** How many reads and turns have begun and not ended. */
  readonly inFlight: number;
}

/**
 * Builds the server: what reads are fetched with, global handlers and hooks, then each plugin in its own scope.
 * Closing the server closes everything that was opened here; so does a failure to build it.
 */
export async function buildApp(options: AppOptions): Promise<App> {
  const opened = createClosing();
  try {
    return await openApp(options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function openApp(options: AppOptions, opened: Closing): Promise<App> {
  const { config } = options;
  const readiness = { draining: false };
  const work = createWork();
  const access = openAccess(options);
  opened.add(access.close);
  const traffic = createTraffic();
  const loop = createServerLoop();
  const shared = { ledger: access.ledger, heavyTurns: createHeavyTurns(loop) };
  const bounded = { ...options, ...shared, pool: access.allowances.pool };
  const fetching = openFetching({ ...bounded, countAnswers: traffic.countAnswers });
  opened.add(fetching.close);
  const sessions = await openSessions(bounded, opened);
  const load = options.load ?? openLoadGauge(config.PERCH_MAX_EVENT_LOOP_DELAY_MS);
  opened.add(() => load.close());
  const identification = options.identification ?? access.identification;
  const server = createServer(options, access, identification);
  server.addHook('onClose', opened.close);
  server.addHook('onListen', async () => sessions?.start());
  if (sessions !== null) noteAddress(server, config);
  setMethods(server);
  const lines = { lines: config.PERCH_ACCESS_LOG, slowMs: config.PERCH_SLOW_REQUEST_MS };
  const accessLog = traffic.countReplies(createAccessLog(server, lines));
  setProblemHandlers(server, { baseUrl: config.PERCH_BASE_URL, accessLog });
  takeTurns(server, loop, identification.clientOf);
  await setCors(server);
  setAdmission(server, readiness, createHostCheck(config.PERCH_BASE_URL, config.HOST));
  boundReplies(server, { ledger: access.ledger, clientOf: identification.clientOf });
  registerPlugins(server, {
    ...bounded,
    identification,
    access,
    fetching,
    sessions,
    traffic,
    work,
    load,
    accessLog,
  });

  await server.ready();
  return {
    server,
    startDraining: () => {
      readiness.draining = true;
      sessions?.service.startDraining();
    },
    cutOff: () => {
      fetching.stop();
      void sessions?.service.cutOff(); // closing waits for it
    },
    get inFlight() {
      return work.inFlight + (sessions?.service.turns.atWork ?? 0);
    },
  };
}

async function openSessions(
  options: AppOptions & Pick<Access, 'ledger'>,
  opened: Closing,
): Promise<AnsweredSessions | null> {
  if (!options.config.PERCH_SESSIONS) return null;
  const sessions = await openAnsweredSessions(options);
  opened.add(sessions.close);
  return sessions;
}

interface Services extends AppOptions {
  readonly heavyTurns: Turns;
  readonly identification: Identification;
  readonly access: Access;
  readonly fetching: Fetching;
  readonly sessions: AnsweredSessions | null;
  readonly traffic: Traffic;
  readonly work: Work;
  readonly load: LoadGauge;
  readonly accessLog: AccessLog;
}

/** The surfaces, each in its own scope with all that it may use. */
function registerPlugins(server: FastifyInstance, services: Services): void {
  const { config, clock, identification, access, fetching, work, load, accessLog } = services;
  const baseUrl = config.PERCH_BASE_URL;
  const origins = createOrigins(baseUrl, []);
  server.register(healthPlugin, { chain: fetching.chain });
  const library = openLibrary(server.log);
  const facts = toDiscoveryFacts({ config, library });
  server.register(openApiPlugin, { ...facts, clock });
  server.register(discoveryPlugin, { ...facts, clock });
  const assets = createAssets(packagePath('assets'), server.log);
  server.register(assetsPlugin, { assets });
  const { sessions } = services;
  const site = { baseUrl, assets, canBeAsked: sessions !== null };
  const asking = sessions && createAsking({ ...services, ...sessions, clientOf: access.clientOf });
  server.register(docsPlugin, {
    site,
    library,
    origins,
    ask: asking && { asking, work, load, accessLog },
  });
  server.register(frontPlugin, {
    site,
    origins,
    hasSample: config.PERCH_SAMPLE && config.PERCH_PROVIDERS.includes('archive'),
    heavyTurns: services.heavyTurns,
    reader: fetching.reader,
    context: fetching.context,
    identification,
    sharedCacheSeconds: config.PERCH_SHARED_CACHE_SECONDS,
    work,
    load,
    accessLog,
  });
  registerReads(server, services);
  const guard = createAdminGuard({
    token: config.PERCH_ADMIN_TOKEN,
    clock,
    clientOf: access.clientOf,
  });
  server.register(adminKeysPlugin, { baseUrl, origins, guard, keys: access.keys });
  server.register(metricsPlugin, {
    origins,
    guard: config.PERCH_METRICS === 'open' ? null : guard,
    measure: () =>
      measureServer({ ...services, ledger: access.ledger, sessions: sessions?.service ?? null }),
  });
  registerMcp(server, { ...services, library });
  if (sessions !== null) registerSessions(server, sessions.service, services);
}

function registerReads(server: FastifyInstance, services: Services): void {
  const { config, identification, access, fetching, work, load, accessLog } = services;
  server.register(readRoutesPlugin, {
    routes: [...readRoutes, ...aliasRoutes],
    reader: fetching.reader,
    context: fetching.context,
    heavyTurns: services.heavyTurns,
    identification,
    sharedCacheSeconds: config.PERCH_SHARED_CACHE_SECONDS,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    work,
    load,
    accessLog,
  });
  server.register(historyRoutesPlugin, {
    routes: historyRoutes,
    importer: fetching.importer,
    identification,
    ledger: access.ledger,
    baseUrl: config.PERCH_BASE_URL,
    work,
    load,
    accessLog,
  });
}

function registerMcp(
  server: FastifyInstance,
  services: Services & { readonly library: () => Library },
): void {
  const { config, identification, access, fetching, work, load, accessLog } = services;
  server.register(mcpPlugin, {
    version,
    problem: problemReply,
    documents: () => listDocuments(services),
    reader: fetching.reader,
    context: fetching.context,
    origins: createOrigins(config.PERCH_BASE_URL, config.PERCH_MCP_ORIGINS),
    exposedHeaders: corsHeaders['access-control-expose-headers'],
    identify: (request) => identification.identify(request, 'browse'),
    clientOf: identification.clientOf,
    ledger: access.ledger,
    heavyTurns: services.heavyTurns,
    shed: () => (load.isHigh ? overloaded() : null),
    track: work.track,
    notice: accessLog.notice,
  });
}

function registerSessions(
  server: FastifyInstance,
  service: SessionService,
  { config, access, accessLog }: Services,
): void {
  const segment = config.PERCH_SESSION_PREFIX;
  server.register(sessionsPlugin, {
    service,
    segment,
    base: `/${segment}/v1`,
    rules: toCallerRules(config),
    origins: config.PERCH_SESSION_ORIGINS,
    pages: createOrigins(config.PERCH_BASE_URL, config.PERCH_SESSION_ORIGINS),
    clientOf: access.clientOf,
    problems: tellProblems(config.PERCH_BASE_URL, accessLog),
  });
}

/** How sessions tell of problems: as everywhere, with their own members. */
function tellProblems(baseUrl: string, accessLog: AccessLog): ProblemTelling {
  return {
    toProblem,
    describe: (problem, request) => describeProblem(problem, request, baseUrl),
    note: (problem, request, reply) => noteProblem(problem, { request, reply, accessLog }),
  };
}

function isSessionPath(url: string, { PERCH_SESSIONS, PERCH_SESSION_PREFIX }: Config): boolean {
  return PERCH_SESSIONS && toPath(url).startsWith(`/${PERCH_SESSION_PREFIX}/`);
}

/** Describes what becomes no request. Pages of other origins have no business with sessions then. */
function describePath(url: string, config: Config): RefusedPath {
  return isSessionPath(url, config)
    ? { headers: {}, toDocument: toSessionDocument }
    : { headers: describeRefused(url, config.PERCH_BASE_URL) };
}

function createServer(
  { config, logger, random }: AppOptions,
  access: Access,
  identification: Identification,
): FastifyInstance {
  const requestId = createRequestIds(random);
  const baseUrl = config.PERCH_BASE_URL;
  const describe = (url: string) => describePath(url, config);
  const refusals = createRefusals({ baseUrl, requestId, describe });
  const describeUnrouted = createUnroutedHeaders({ identification, baseUrl });
  const server = Fastify<Server>({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: lines name the request themselves, and a request makes no new logger.
    childLoggerFactory: (parent) => parent,
    genReqId: requestId,
    clientErrorHandler: refusals.onClientError,
    frameworkErrors: (error, request, reply) =>
      isSessionPath(request.raw.url ?? '', config)
        ? sendSessionProblem(error, { request, reply }, tellProblems(baseUrl, silentAccessLog))
        : sendProblem(reply, toProblem(error, request), {
            request,
            baseUrl,
            accessLog: silentAccessLog,
            describeUnrouted,
          }),
    http: {
      requireHostHeader: false,
      maxHeaderSize: 16_384,
      headersTimeout: config.PERCH_REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(5000, config.PERCH_REQUEST_TIMEOUT_MS),
    },
    requestTimeout: config.PERCH_REQUEST_TIMEOUT_MS,
    connectionTimeout: 120_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: maxUrlBytes,
      // Reads parse their query themselves, once for each URL that they have not seen.
      querystringParser: () => ({}),
    },
  });
  boundConnections(server.server, {
    ledger: access.ledger,
    clientOf: access.connectionOf,
    refuse: refusals.refuse,
  });
  server.server.on('connect', refusals.onConnect);
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know.
  server.server.on('checkExpectation', (...exchange) => server.server.emit('request', ...exchange));
  return server;
}

/** Makes request ids: a random part for the process, and a number. */
function createRequestIds(random: Random): () => string {
  const prefix = random.bytes(6).toString('base64url');
  let number = 0;
  return () => {
    number += 1;
    return `${prefix}-${number.toString(36)}`;
  };
}
