import type { Server } from 'node:http';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import type { Random } from './core/random.ts';
import { createAccessLog, silentAccessLog } from './http/access-log.ts';
import { setAdmission } from './http/admission.ts';
import { sendProblem, setProblemHandlers, toProblem } from './http/errors.ts';
import { healthPlugin } from './http/health.ts';
import { maxUrlBytes } from './http/limits.ts';
import { type LoadGauge, openLoadGauge } from './http/load.ts';
import { acceptAllMethods } from './http/methods.ts';
import { readRoutesPlugin } from './http/read-routes.ts';
import { createRefusals } from './http/refusals.ts';
import { readRoutes } from './http/routes.ts';
import { createWork } from './http/work.ts';
import { type FetchingOverrides, openFetching } from './open-fetching.ts';

/** What an app is built of. Tests hand in their own clock, chance and providers. */
export interface AppOptions extends FetchingOverrides {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  /** Default: the delay of the event loop. Closed with the server. */
  readonly load?: LoadGauge;
}

/** The server, and the switch that makes it refuse new work. */
export interface App {
  readonly server: FastifyInstance;
  /** From now on new requests get 503 `shutting_down`. */
  startDraining(): void;
  /** Ends the reads that are under way with 503 `shutting_down`. */
  cutOff(): void;
  /** How many reads have begun and not ended. */
  readonly inFlight: number;
}

/**
 * Builds the server: what reads are fetched with, global handlers and hooks, then each plugin in its own scope.
 * Closing the server closes everything that was opened here.
 */
export async function buildApp(options: AppOptions): Promise<App> {
  const { config } = options;
  const readiness = { draining: false };
  const work = createWork();
  const fetching = openFetching(options);
  const server = createServer(options);
  const load = options.load ?? openLoadGauge(config.PERCH_MAX_EVENT_LOOP_DELAY_MS);
  server.addHook('onClose', async () => {
    load.close();
    await fetching.close();
  });

  acceptAllMethods(server);
  const accessLog = createAccessLog(server, {
    lines: config.PERCH_ACCESS_LOG,
    slowMs: config.PERCH_SLOW_REQUEST_MS,
  });
  setProblemHandlers(server, { baseUrl: config.PERCH_BASE_URL, accessLog });
  setAdmission(server, readiness);

  server.register(healthPlugin, { chain: fetching.chain });
  server.register(readRoutesPlugin, {
    routes: readRoutes,
    fetcher: fetching.fetcher,
    context: fetching.context,
    sharedCacheSeconds: config.PERCH_SHARED_CACHE_SECONDS,
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    work,
    load,
    accessLog,
  });

  await server.ready();
  return {
    server,
    startDraining: () => {
      readiness.draining = true;
    },
    cutOff: () => fetching.stop(),
    get inFlight() {
      return work.inFlight;
    },
  };
}

function createServer({ config, logger, random }: AppOptions): FastifyInstance {
  const requestId = createRequestIds(random);
  const baseUrl = config.PERCH_BASE_URL;
  const refusals = createRefusals(baseUrl, requestId);
  const server = Fastify<Server>({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // One logger for all: lines name the request themselves, and a request makes no new logger.
    childLoggerFactory: (parent) => parent,
    genReqId: requestId,
    clientErrorHandler: refusals.onClientError,
    frameworkErrors: (error, request, reply) =>
      sendProblem(reply, toProblem(error, request), {
        request,
        baseUrl,
        accessLog: silentAccessLog,
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
