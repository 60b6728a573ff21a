import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import type { ProviderChain } from '../../fetching/chain/provider-chain.ts';
import { platform } from '../../model/reference.ts';
import type { BreakerState } from '../../providers/gate.ts';

/** Registers `/health/live` and `/health/ready`, which admission refuses while the process drains. */
export async function healthPlugin(app: FastifyInstance, { chain }: { chain: ProviderChain }) {
  const states = {
    '/health/live': () => ({ status: 'ok' }),
    '/health/ready': () => ({ status: 'ready', providers: chain.states() }),
  };
  for (const [url, state] of Object.entries(states)) {
    app.get(url, async (request, reply) => {
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'x-request-id': request.id,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      };
      return reply.headers(headers).send(JSON.stringify(state()));
    });
    app.methodTable.add(url, { allow: ['GET', 'HEAD'] });
  }
}

const breaker = z.enum(['closed', 'open', 'half_open'] satisfies readonly BreakerState[]);

const providerState = z
  .object({
    name: z.string(),
    breaker: breaker.describe(
      '`open` while any kind of query is not asked; `half_open` while one tries whether it is back.',
    ),
    broken: z
      .record(z.string(), breaker)
      .describe('The kinds of query whose breaker is not closed.'),
    platforms: z.array(platform).readonly(),
    reads: z.array(z.string()).readonly().describe('What it can be asked for; an open set.'),
  })
  .meta({ id: 'ProviderState' });

const liveReply = z.object({ status: z.string().describe('`ok`.') });

const readyReply = z
  .object({ status: z.string().describe('`ready`.'), providers: z.array(providerState).readonly() })
  .meta({ id: 'Readiness' });

const health = { method: 'GET', tag: 'health', access: 'open', problems: [] } as const;

export const healthEndpoints: readonly Endpoint[] = [
  {
    ...health,
    id: 'getLiveness',
    path: '/health/live',
    summary: 'Tells that the process answers, also while it drains.',
    replies: [{ status: 200, description: 'It does.', content: { 'application/json': liveReply } }],
  },
  {
    ...health,
    id: 'getReadiness',
    path: '/health/ready',
    summary: 'Tells whether the process takes work, and how its providers are.',
    description:
      'A process that is draining answers 503 `shutting_down`. A breaker that is open changes nothing.',
    replies: [
      { status: 200, description: 'It does.', content: { 'application/json': readyReply } },
    ],
  },
];
