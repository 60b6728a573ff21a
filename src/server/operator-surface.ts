import type { FastifyInstance } from 'fastify';
import type { Allowances } from '../access/allowances.ts';
import { createOrigins } from '../lib/http/origins.ts';
import { type MetricFamily, measureProcess, metric } from '../lib/metrics-text.ts';
import type { Engine } from '../lib/redis/engine.ts';
import { openEngineReport } from '../lib/redis/engine-report.ts';
import { type Quotas, type Resource, resources } from '../lib/scheduling/quotas.ts';
import { version } from '../lib/version.ts';
import { adminPlugin } from '../routes/admin/admin-plugin.ts';
import { createAdminGuard } from '../routes/admin/guard.ts';
import { dashboardPlugin } from '../routes/dashboard/dashboard-plugin.ts';
import type { LoadGauge } from '../routes/monitoring/load.ts';
import { metricsPlugin, readinessPlugin } from '../routes/monitoring/probes.ts';
import type { Surface } from './read-surface.ts';
import { createSessionsOfDashboard, openSections, type ReadEngine } from './wiring/dashboard.ts';
import { describeAdmin } from './wiring/documents.ts';
import type { AnsweredSessions } from './wiring/sessions.ts';

/** Registers the routes for the operator: readiness, metrics, admin API and dashboard. */
export async function operatorSurface(app: FastifyInstance, surface: Surface): Promise<void> {
  const { config, clock, sessions } = surface;
  const { PERCH_BASE_URL: baseUrl, PERCH_ADMIN_TOKEN: token } = config;
  const origins = createOrigins(baseUrl, []);
  const guard = createAdminGuard({ ...surface, token });
  const readEngine = openReport(app, surface);
  const readStoreFault = sessions === null ? undefined : () => sessions.service.health.fault;
  app.register(readinessPlugin, { ...surface, readEngine, readStoreFault });
  app.register(metricsPlugin, {
    origins,
    guard: config.PERCH_METRICS === 'open' ? null : guard,
    measure: () => measureServer(surface),
  });
  const describe = () => describeAdmin(config);
  app.register(adminPlugin, { ...surface, origins, guard, baseUrl, describe });
  const { sections, close } = openSections(surface, readEngine);
  app.addHook('onClose', async () => close());
  const store = createSessionsOfDashboard(clock, surface.redis);
  app.register(dashboardPlugin, { ...surface, origins, guard, token, store, sections });
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

async function measureServer({
  traffic,
  work,
  load,
  cache,
  chain,
  quotas,
  allowances,
  sessions,
  redis,
}: Surface): Promise<readonly MetricFamily[]> {
  return [
    {
      name: 'perch_build_info',
      help: 'Version of Perch, as a label. With a shared engine, also the name of the instance.',
      type: 'gauge',
      samples: [{ labels: toBuildLabels(redis), value: 1 }],
    },
    ...(redis === null ? [] : measureEngine(redis)),
    ...traffic.families(chain.records.names),
    gauge('perch_reads_in_flight', 'Reads in progress.', work.inFlight),
    gauge('perch_load_is_high', '1 while reads are refused as overloaded.', Number(load.isHigh)),
    ...measureDelay(load),
    ...(await measurePool(allowances)),
    {
      name: 'perch_provider_breaker_is_open',
      help: '1 while a circuit breaker of the provider is open or half-open.',
      type: 'gauge',
      samples: chain.states().map(({ name, breaker }) => ({
        labels: { provider: name },
        value: Number(breaker !== 'closed'),
      })),
    },
    gauge('perch_cache_entries', 'Entries in the response cache.', cache.size),
    gauge('perch_cache_bytes', 'Bytes in the response cache.', cache.bytes),
    ...measureQuotas(quotas),
    ...(sessions === null ? [] : await measureSessions(sessions)),
    ...measureProcess(),
  ];
}

function measureDelay({ delay = null }: LoadGauge): readonly MetricFamily[] {
  if (delay === null) return [];
  const help = 'Mean event-loop delay of the last 250 ms in seconds.';
  return [gauge('nodejs_eventloop_delay_seconds', help, delay.nowMs / 1000)];
}

async function measurePool({ poolUse }: Allowances): Promise<readonly MetricFamily[]> {
  const { used, limit } = await poolUse();
  return [
    gauge('perch_pool_used', 'Upstream requests of the current window that count.', used),
    gauge('perch_pool_limit', 'Maximum number of upstream requests in a window.', limit),
  ];
}

function toBuildLabels(engine: Engine | null): Readonly<Record<string, string>> {
  return engine === null ? { version } : { version, instance: engine.instance };
}

export function measureEngine({ state }: Pick<Engine, 'state'>): readonly MetricFamily[] {
  return [
    gauge('perch_shared_engine_is_up', '1 while the shared engine answers.', Number(state.isUp)),
    gauge('perch_instances', 'Instances of Perch last seen on the engine.', state.instances),
  ];
}

const gauge = (name: string, help: string, value: number) => metric(name, help, 'gauge', value);

function measureQuotas(quotas: Quotas): readonly MetricFamily[] {
  const measure = (amountOf: (resource: Resource) => number) =>
    resources.map((resource) => ({
      labels: { holding: resource.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) },
      value: amountOf(resource),
    }));
  return [
    {
      name: 'perch_held',
      help: 'Resources that all clients use now: connections, reads, bytes and so on.',
      type: 'gauge',
      samples: measure(quotas.totalOf),
    },
    {
      name: 'perch_holds_refused_total',
      help: 'Requests for a resource that were refused because a limit was reached.',
      type: 'counter',
      samples: measure(quotas.refusedCount),
    },
  ];
}

async function measureSessions({ service }: AnsweredSessions): Promise<readonly MetricFamily[]> {
  const figures = await service.figures().catch(() => null); // the store reports its failures
  const usable = '1 while the stored sessions can be read and changed.';
  const state = gauge(
    'perch_session_store_is_usable',
    usable,
    Number(figures !== null && service.health.fault === null),
  );
  if (figures === null) return [state];
  const waiting = 'Turns, and questions on /docs/ask, that wait to run.';
  return [
    state,
    gauge('perch_sessions_live', 'Sessions that have not ended.', figures.live),
    gauge('perch_turns_at_work', 'Turns that are running.', figures.turnsAtWork),
    gauge('perch_session_bytes', 'Bytes of all stored sessions.', figures.storedBytes),
    gauge('perch_turns_waiting', waiting, figures.turnsWaiting),
    gauge('perch_streams_open', 'Open session streams.', figures.streams),
  ];
}
