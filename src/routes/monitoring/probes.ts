import type { FastifyInstance, FastifyReply } from 'fastify';
import * as z from 'zod';
import type { ProviderChain } from '../../fetching/chain/provider-chain.ts';
import type { BreakerState } from '../../lib/breaker.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import type { Origins } from '../../lib/http/origins.ts';
import { type MetricFamily, metricsMediaType, writeMetrics } from '../../lib/metrics-text.ts';
import type { EngineReport } from '../../lib/redis/engine-report.ts';
import { platform } from '../../model/reference.ts';
import type { AdminGuard } from '../admin/guard.ts';
import { corsHeaders, rejectOtherOrigins } from '../cors.ts';
import { declareRoutes, refuseOthers, serveRoutes } from '../route.ts';

interface HealthOptions {
  readonly chain: ProviderChain;
  /** Returns the state of the shared Redis or Valkey server; `undefined` for one instance. */
  readonly readEngine: (() => EngineReport) | undefined;
  /** Explains a session store failure; `null` while it works, `undefined` without sessions. */
  readonly readStoreFault: (() => string | null) | undefined;
}

const config = { isProbe: true } as const;

const jsonType = 'application/json; charset=utf-8';

const freshHeaders = { 'cache-control': 'no-store' } as const;

const liveness = { url: '/health/live', method: ['GET', 'HEAD'] };

/** Registers the liveness probe in a scope that needs few hooks. */
export function serveLiveness(app: FastifyInstance): void {
  const body = toJsonBody({ status: 'ok' });
  const headers = { ...freshHeaders, ...corsHeaders, 'content-type': jsonType };
  const handler = (_request: unknown, reply: FastifyReply) => reply.headers(headers).send(body);
  app.route({ ...liveness, exposeHeadRoute: false, config, handler });
}

export function refuseLivenessMethods(app: FastifyInstance): void {
  const refused = { ...config, decidesWhileDraining: true };
  refuseOthers(app, liveness.url, liveness.method, { config: refused });
}

/** Registers the readiness probe. During a shutdown, `refuseRequests` rejects it. */
export async function readinessPlugin(app: FastifyInstance, options: HealthOptions) {
  const { chain, readEngine, readStoreFault } = options;
  const getReadiness = (_request: unknown, reply: FastifyReply) =>
    reply.headers({ ...freshHeaders, 'content-type': jsonType }).send(
      toJsonBody({
        status: 'ready',
        providers: chain.states(),
        ...(readEngine !== undefined && { shared_engine: toEngineState(readEngine()) }),
        ...(readStoreFault !== undefined && { session_store: toStoreState(readStoreFault()) }),
      }),
    );
  serveRoutes(app, readinessRoutes, { getReadiness }, { config });
}

const breaker = z.enum(['closed', 'open', 'half_open'] satisfies readonly BreakerState[]);

const providerState = z
  .object({
    name: z.string(),
    breaker: breaker.describe(
      'State of the provider’s circuit breaker. `open`: the provider gets no queries of at least one kind. `half_open`: a trial query tests whether the provider has recovered. `closed`: the provider gets all queries.',
    ),
    broken: z
      .record(z.string(), breaker)
      .describe('States of the circuit breakers that are not closed, keyed by kind of query.'),
    platforms: z.array(platform).readonly(),
    reads: z
      .array(z.string())
      .readonly()
      .describe('Kinds of query that the provider supports. New kinds may be added.'),
  })
  .meta({ id: 'ProviderState' });

const engineState = z
  .object({
    state: z
      .enum(['up', 'down'])
      .describe('`up` while the shared Valkey or Redis server answers in time, otherwise `down`.'),
    fault: z
      .string()
      .nullable()
      .describe('Reason for the state `down`; null while the state is `up`.'),
    instances: z.int().describe('Number of running instances of Perch at the last count.'),
    warnings: z
      .array(z.string())
      .readonly()
      .describe(
        'Warnings about settings or states of the shared Valkey or Redis server that risk a loss of data or a refusal of writes. Checked once a minute.',
      ),
  })
  .meta({ id: 'SharedEngineState' });

function toEngineState({ isUp, ...report }: EngineReport): z.output<typeof engineState> {
  return { state: isUp ? 'up' : 'down', ...report };
}

const storeState = z
  .object({
    state: z.enum(['up', 'down']).describe('`up` while sessions can be stored, otherwise `down`.'),
    fault: z
      .string()
      .nullable()
      .describe('Reason for the state `down`; null while the state is `up`.'),
  })
  .meta({ id: 'SessionStoreState' });

const toStoreState = (fault: string | null): z.output<typeof storeState> => ({
  state: fault === null ? 'up' : 'down',
  fault,
});

const live = z.object({ status: z.string().describe('Always `ok`.') });

const ready = z
  .object({
    status: z.string().describe('Always `ready`.'),
    providers: z.array(providerState).readonly(),
    shared_engine: engineState
      .optional()
      .describe(
        'State of the Valkey or Redis server that several instances share. Present only if `PERCH_REDIS_URL` is set.',
      ),
    session_store: storeState
      .optional()
      .describe('State of the store of sessions at its last use. Present only if sessions are on.'),
  })
  .meta({ id: 'Readiness' });

const health = { method: 'GET', tag: 'health', access: 'open', problems: [] } as const;

export const livenessRoutes = declareRoutes(health, {
  getLiveness: {
    path: liveness.url,
    title: 'Check whether the process runs',
    summary: 'Returns 200 while the process runs, also during a shutdown.',
    replies: [
      { status: 200, description: 'The process runs.', content: { 'application/json': live } },
    ],
  },
});

export const readinessRoutes = declareRoutes(health, {
  getReadiness: {
    path: '/health/ready',
    title: 'Check whether the server is ready',
    summary: 'Returns whether the process accepts requests, and the state of its providers.',
    description:
      'During a shutdown the status is 503 `shutting_down`. An open breaker, or a shared engine or session store that is down, does not change the status.',
    replies: [
      {
        status: 200,
        description: 'The process is ready.',
        content: { 'application/json': ready },
      },
    ],
  },
});

interface MetricsOptions {
  /** Check of the admin token; `null` if the route requires no token (`PERCH_METRICS=open`). */
  readonly guard: AdminGuard | null;
  readonly measure: () => Promise<readonly MetricFamily[]>;
  readonly origins: Origins;
}

export async function metricsPlugin(app: FastifyInstance, options: MetricsOptions) {
  const { guard, measure, origins } = options;
  rejectOtherOrigins(app, origins);
  if (guard !== null) app.addHook('onRequest', guard.requireToken);
  serveRoutes(app, metricsRoutes, {
    getMetrics: async (_request, reply) =>
      reply
        .headers({ ...freshHeaders, 'content-type': metricsMediaType })
        .send(writeMetrics(await measure())),
  });
}

export const metricsRoutes = declareRoutes(
  { method: 'GET', tag: 'operator', access: 'operator', problems: [] },
  {
    getMetrics: {
      path: '/metrics',
      title: 'Get the metrics of the server',
      summary: 'Returns metrics of the server in the Prometheus text format.',
      description: 'With `PERCH_METRICS=open` no token is needed.',
      replies: [
        {
          status: 200,
          description: 'The current metrics.',
          content: { [metricsMediaType]: 'text' },
        },
      ],
    },
  },
);
