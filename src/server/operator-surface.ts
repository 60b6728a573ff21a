import type { FastifyInstance } from 'fastify';
import { createOrigins } from '../lib/http/origins.ts';
import { openEngineReport } from '../lib/redis/engine-report.ts';
import { adminPlugin } from '../routes/admin/admin-plugin.ts';
import { createAdminGuard } from '../routes/admin/guard.ts';
import { dashboardPlugin } from '../routes/dashboard/dashboard-plugin.ts';
import { metricsPlugin, readinessPlugin } from '../routes/monitoring/probes.ts';
import type { Surface } from './read-surface.ts';
import { createSessionsOfDashboard, openSections, type ReadEngine } from './wiring/dashboard.ts';
import { describeAdmin } from './wiring/documents.ts';
import { measureServer } from './wiring/metrics.ts';

/** Registers the routes for the operator: readiness, metrics, admin API and dashboard. */
export async function operatorSurface(app: FastifyInstance, surface: Surface): Promise<void> {
  const { config, clock, random, access, site, accessLog, sessions } = surface;
  const { PERCH_BASE_URL: baseUrl, PERCH_ADMIN_TOKEN: token } = config;
  const { keys, connectionOf, clientOf } = access;
  const origins = createOrigins(baseUrl, []);
  const guard = createAdminGuard({ token, clock, clientOf });
  const readEngine = openReport(app, surface);
  const readStoreFault = sessions === null ? undefined : () => sessions.service.health.fault;
  app.register(readinessPlugin, { chain: surface.fetching.chain, readEngine, readStoreFault });
  app.register(metricsPlugin, {
    origins,
    guard: config.PERCH_METRICS === 'open' ? null : guard,
    measure: () => measureServer(surface),
  });
  const describe = () => describeAdmin(config);
  app.register(adminPlugin, { origins, guard, keys, connectionOf, baseUrl, describe });
  const { sections, close } = openSections(surface, readEngine);
  app.addHook('onClose', async () => close());
  const store = createSessionsOfDashboard(clock, surface.redis);
  const dashboard = { site, origins, guard, accessLog, random, token, store, sections };
  app.register(dashboardPlugin, dashboard);
}

function openReport(app: FastifyInstance, { clock, logger, redis: engine }: Surface): ReadEngine {
  if (engine === null) return undefined;
  const onWarnings = (warnings: readonly string[]) =>
    warnings.length > 0
      ? logger.warn({ warnings }, 'the shared engine can lose data or refuse changes')
      : logger.info('the shared engine has safe settings again');
  const report = openEngineReport({ engine, clock, onWarnings });
  app.addHook('onClose', async () => report.close());
  return report.read;
}
