import type { FastifyInstance } from 'fastify';
import { createCopyReader } from '../archive/media/copy-reader.ts';
import { openEngineReport } from '../core/engine/engine-report.ts';
import { createOrigins, type Origins } from '../core/http/origins.ts';
import { version } from '../core/version.ts';
import { adminPlugin } from '../http/admin/admin-plugin.ts';
import { type AdminGuard, createAdminGuard } from '../http/admin/guard.ts';
import { dashboardPlugin } from '../http/dashboard/dashboard-plugin.ts';
import { discoveryPlugin } from '../http/discovery/documents.ts';
import { identityOf } from '../http/key-status/plugin.ts';
import { copiesPlugin } from '../http/media/copies-plugin.ts';
import { pictureProxyPlugin } from '../http/media/proxy-plugin.ts';
import { overloaded } from '../http/operations/load.ts';
import { healthPlugin, metricsPlugin } from '../http/operations/probes.ts';
import { assetsPlugin } from '../http/pages/assets.ts';
import { docsPlugin } from '../http/pages/docs/docs-plugin.ts';
import { frontPlugin } from '../http/pages/front/front-plugin.ts';
import { feedRedirectsPlugin } from '../http/reads/feed-redirects.ts';
import { historyRoutesPlugin } from '../http/reads/history-routes.ts';
import { opmlPlugin } from '../http/reads/opml-route.ts';
import { readRoutesPlugin } from '../http/reads/read-routes.ts';
import { aliasRoutes, historyRoutes, readRoutes } from '../http/reads/routes.ts';
import { mcpPlugin } from '../mcp/plugin.ts';
import { sessionsPlugin } from '../sessions/http/plugin.ts';
import type { AccessLog } from '../web/access-log.ts';
import { createSessionsOfDashboard, openSections, type ReadEngine } from './open/dashboard.ts';
import { describeAdmin, listDocuments, openLibrary, toDiscoveryFacts } from './open/documents.ts';
import { measureServer } from './open/metrics.ts';
import { createPageAnswers } from './open/page-answers.ts';
import type { Services } from './open/services.ts';
import { type AnsweredSessions, toCallerRules } from './open/sessions.ts';
import { createReporter } from './server.ts';

type Surfaces = Services & { readonly accessLog: AccessLog };

export function registerSurfaces(server: FastifyInstance, services: Surfaces): void {
  const { config, clock, access, fetching, sessions } = services;
  const { site, identification, heavyTurns, work, load, accessLog } = services;
  const { reader, context, importer } = fetching;
  const { clientOf, ledger } = access;
  const baseUrl = config.PERCH_BASE_URL;
  const origins = createOrigins(baseUrl, []);
  const library = openLibrary(config, server.log);
  const facts = toDiscoveryFacts({ config, library });
  const asking = sessions && createPageAnswers({ ...services, ...sessions, clientOf });
  const sharedCacheSeconds = config.PERCH_SHARED_CACHE_SECONDS;
  const watched = { work, load, accessLog };
  const reading = { ...watched, reader, context, heavyTurns, identification, sharedCacheSeconds };
  const guard = createAdminGuard({ token: config.PERCH_ADMIN_TOKEN, clock, clientOf });
  const readEngine = openReport(server, services);
  registerOperations(server, services, { guard, origins, readEngine });
  registerOperator(server, services, { guard, origins, readEngine });
  server.register(discoveryPlugin, { ...facts, clock });
  server.register(assetsPlugin, { assets: site.assets });
  server.register(docsPlugin, { site, library, origins, ask: asking && { asking, ...watched } });
  server.register(frontPlugin, { ...reading, site, origins });
  server.register(readRoutesPlugin, {
    ...reading,
    routes: [...readRoutes, ...aliasRoutes],
    linkPreviews: config.PERCH_LINK_PREVIEWS,
    browserPages: config.PERCH_BROWSER_PAGES,
    countHits: services.traffic.countHits,
  });
  server.register(pictureProxyPlugin, {
    ...{ ...watched, identification, ledger, clock },
    pictures: fetching.pictures,
  });
  const histories = { ...watched, importer, identification, ledger, context: fetching.context };
  registerCopies(server, services);
  server.register(historyRoutesPlugin, { ...histories, routes: historyRoutes });
  server.register(opmlPlugin, { baseUrl });
  server.register(feedRedirectsPlugin, { baseUrl });
  server.register(mcpPlugin, {
    version,
    documents: () => listDocuments({ config, clock, library }),
    reader,
    context,
    origins: createOrigins(baseUrl, config.PERCH_MCP_ORIGINS),
    identityOf,
    clientOf: identification.clientOf,
    ledger,
    heavyTurns,
    shed: () => (load.isHigh ? overloaded() : null),
    track: work.track,
    logIfNotable: accessLog.logIfNotable,
  });
  if (sessions !== null) registerSessions(server, sessions, services);
}

function registerCopies(server: FastifyInstance, { config, access, identification }: Surfaces) {
  const { PERCH_DATA_DIR: folder, PERCH_PROVIDERS: providers } = config;
  const isServed = providers.includes('archive');
  const copies = createCopyReader({
    dataFolder: isServed && folder !== ':memory:' ? folder : null,
    sample: isServed && config.PERCH_SAMPLE,
  });
  server.addHook('onClose', async () => copies.close());
  const { ledger } = access;
  server.register(copiesPlugin, { copies, ledger, clientOf: identification.clientOf });
}

function openReport(server: FastifyInstance, services: Surfaces): ReadEngine {
  const { clock, logger, redis: engine } = services;
  const onWarnings = (warnings: readonly string[]) =>
    warnings.length > 0
      ? logger.warn({ warnings }, 'the shared engine can lose data or refuse changes')
      : logger.info('the shared engine has safe settings again');
  const report = engine && openEngineReport({ engine, clock, onWarnings });
  if (report !== null) server.addHook('onClose', async () => report.close());
  return report?.read;
}

interface OperationsOptions {
  readonly guard: AdminGuard;
  readonly origins: Origins;
  readonly readEngine: ReadEngine;
}

function registerOperator(
  server: FastifyInstance,
  services: Surfaces,
  { guard, origins, readEngine }: OperationsOptions,
): void {
  const { config, clock, access, site, accessLog, random, redis } = services;
  const { keys, connectionOf } = access;
  const { sections, close } = openSections(services, readEngine);
  server.addHook('onClose', async () => close());
  server.register(adminPlugin, {
    ...{ origins, guard, keys, connectionOf },
    baseUrl: config.PERCH_BASE_URL,
    describe: () => describeAdmin(config),
  });
  server.register(dashboardPlugin, {
    ...{ site, origins, guard, accessLog, random },
    token: config.PERCH_ADMIN_TOKEN,
    store: createSessionsOfDashboard(clock, redis),
    sections,
  });
}

function registerOperations(
  server: FastifyInstance,
  services: Surfaces,
  { guard, origins, readEngine }: OperationsOptions,
): void {
  const { config, fetching, sessions } = services;
  const readStoreFault = sessions === null ? undefined : () => sessions.service.health.fault;
  server.register(healthPlugin, { chain: fetching.chain, readEngine, readStoreFault });
  server.register(metricsPlugin, {
    origins,
    guard: config.PERCH_METRICS === 'open' ? null : guard,
    measure: () => measureServer(services),
  });
}

function registerSessions(
  server: FastifyInstance,
  { service }: AnsweredSessions,
  { config, access, accessLog }: Surfaces,
): void {
  const segment = config.PERCH_SESSION_PREFIX;
  server.register(sessionsPlugin, {
    service,
    prefix: `/${segment}`,
    base: `/${segment}/v1`,
    rules: toCallerRules(config),
    origins: config.PERCH_SESSION_ORIGINS,
    pages: createOrigins(config.PERCH_BASE_URL, config.PERCH_SESSION_ORIGINS),
    clientOf: access.clientOf,
    problems: createReporter(config.PERCH_BASE_URL, accessLog),
  });
}
