import type { FastifyInstance } from 'fastify';
import { packagePath } from '../core/files/package-path.ts';
import { createOrigins } from '../core/http/origins.ts';
import type { Turns } from '../core/scheduling/turns.ts';
import { version } from '../core/version.ts';
import { createAdminGuard } from '../http/admin/guard.ts';
import { adminKeysPlugin } from '../http/admin/keys.ts';
import { discoveryPlugin } from '../http/discovery/documents.ts';
import { type Identification, identityOf } from '../http/key-status/plugin.ts';
import { problemReply } from '../http/openapi/problems.ts';
import type { Work } from '../http/operations/load.ts';
import { type LoadGauge, overloaded } from '../http/operations/load.ts';
import { healthPlugin, metricsPlugin } from '../http/operations/probes.ts';
import type { Traffic } from '../http/operations/traffic.ts';
import { assetsPlugin, createAssets } from '../http/pages/assets.ts';
import { docsPlugin } from '../http/pages/docs/docs-plugin.ts';
import type { Library } from '../http/pages/docs/library.ts';
import { frontPlugin } from '../http/pages/front/front-plugin.ts';
import { historyRoutesPlugin } from '../http/reads/history-routes.ts';
import { readRoutesPlugin } from '../http/reads/read-routes.ts';
import { aliasRoutes, historyRoutes, readRoutes } from '../http/reads/routes.ts';
import { mcpPlugin } from '../mcp/plugin.ts';
import { sessionsPlugin } from '../sessions/http/plugin.ts';
import type { SessionService } from '../sessions/service.ts';
import type { AccessLog } from '../web/access-log.ts';
import type { Access } from './open/access.ts';
import type { AnsweredSessions } from './open/answered-sessions.ts';
import { createAsking } from './open/asking.ts';
import { listDocuments, openLibrary, toDiscoveryFacts } from './open/documents.ts';
import type { Fetching } from './open/fetching.ts';
import { measureServer } from './open/metrics.ts';
import { toCallerRules } from './open/sessions.ts';
import type { AppOptions } from './options.ts';
import { tellProblems } from './server.ts';

/** What the surfaces are given. */
export interface Services extends AppOptions {
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
/** Registers the surfaces, each with all that it may use. */
export function registerSurfaces(server: FastifyInstance, services: Services): void {
  const { config, clock, identification, access, fetching, work, load, accessLog } = services;
  const baseUrl = config.PERCH_BASE_URL;
  const origins = createOrigins(baseUrl, []);
  server.register(healthPlugin, { chain: fetching.chain });
  const library = openLibrary(server.log);
  server.register(discoveryPlugin, { ...toDiscoveryFacts({ config, library }), clock });
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
  const hasSample = config.PERCH_SAMPLE && config.PERCH_PROVIDERS.includes('archive');
  server.register(frontPlugin, {
    site: { ...site, hasSample },
    origins,
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
    identityOf,
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
