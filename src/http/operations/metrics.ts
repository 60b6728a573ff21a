import type { FastifyInstance } from 'fastify';
import type { Origins } from '../../core/http/origins.ts';
import { type MetricFamily, metricsMediaType, writeMetrics } from '../../core/metrics-text.ts';
import { closeToPages } from '../../web/cors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import type { AdminGuard } from '../admin/guard.ts';
import { metricsPath } from './metrics-endpoints.ts';

/** The context of the metrics. */
export interface MetricsOptions {
  /** Lets the operator alone in; null for everybody (`PERCH_METRICS=open`). */
  readonly guard: AdminGuard | null;
  /** Measures everything, now. */
  readonly measure: () => Promise<readonly MetricFamily[]>;
  readonly origins: Origins;
}

const headers = {
  'content-type': metricsMediaType,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** Registers `/metrics`. */
export async function metricsPlugin(app: FastifyInstance, options: MetricsOptions) {
  const { guard, measure, origins } = options;
  closeToPages(app, origins);
  if (guard !== null) app.addHook('onRequest', guard);
  app.get(metricsPath, async (request, reply) =>
    reply
      .header('x-request-id', request.id)
      .headers(headers)
      .send(writeMetrics(await measure())),
  );
  refuseOtherMethods(app, metricsPath, { allow: ['GET', 'HEAD'] });
}
