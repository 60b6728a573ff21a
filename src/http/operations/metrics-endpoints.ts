import type { Endpoint } from '../../core/endpoint.ts';
import { metricsMediaType } from '../../core/metrics-text.ts';

/** Where the operator's metrics are. */
export const metricsPath = '/metrics';

/** The metrics, as the machine description tells of them. */
export const metricsEndpoints: readonly Endpoint[] = [
  {
    id: 'getMetrics',
    method: 'GET',
    path: metricsPath,
    tag: 'operator',
    summary: 'Gives figures of the server in the Prometheus text format.',
    description: 'With `PERCH_METRICS=open` it needs no token.',
    replies: [
      {
        status: 200,
        description: 'What was measured just now.',
        content: { [metricsMediaType]: 'text' },
      },
    ],
    problems: [],
    access: 'operator',
  },
];
