import type { FastifyInstance } from 'fastify';
import type { Endpoint } from '../../core/endpoint.ts';
import type { Origins } from '../../core/http/origins.ts';
import { type MetricFamily, metricsMediaType, writeMetrics } from '../../core/metrics-text.ts';
import { closeToPages } from '../../web/cors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import type { AdminGuard } from '../admin/guard.ts';

const metricsPath = '/metrics';

interface MetricsOptions {
  /** Admits only the operator; `null` admits everybody (`PERCH_METRICS=open`). */
  readonly guard: AdminGuard | null;
  readonly measure: () => Promise<readonly MetricFamily[]>;
  readonly origins: Origins;
}

export async function metricsPlugin(app: FastifyInstance, options: MetricsOptions) {
  const { guard, measure, origins } = options;
  closeToPages(app, origins);
  if (guard !== null) app.addHook('onRequest', guard);
  app.get(metricsPath, async (request, reply) =>
    reply
      .headers({
        'content-type': metricsMediaType,
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      .send(writeMetrics(await measure())),
  );
  refuseOtherMethods(app, metricsPath, { allow: ['GET', 'HEAD'] });
}

const measured = { status: 200, description: 'What was measured just now.' };

export const metricsEndpoints: readonly Endpoint[] = [
  {
    id: 'getMetrics',
    method: 'GET',
    path: metricsPath,
    tag: 'operator',
    summary: 'Gives figures of the server in the Prometheus text format.',
    description: 'With `PERCH_METRICS=open` it needs no token.',
    replies: [{ ...measured, content: { [metricsMediaType]: 'text' } }],
    problems: [],
    access: 'operator',
  },
];
