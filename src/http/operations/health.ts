import type { FastifyInstance } from 'fastify';
import type { ProviderChain } from '../../fetching/chain/provider-chain.ts';

/** The context of the health routes. */
export interface HealthOptions {
  readonly chain: ProviderChain;
}

const headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/**
 * Registers `/health/live` (the process answers) and `/health/ready` (it takes work). A draining
 * process is refused readiness at admission; an open breaker is shown and changes nothing.
 */
export async function healthPlugin(app: FastifyInstance, { chain }: HealthOptions) {
  const states = {
    '/health/live': () => ({ status: 'ok' }),
    '/health/ready': () => ({ status: 'ready', providers: chain.states() }),
  };
  for (const [url, state] of Object.entries(states)) {
    app.get(url, async (request, reply) =>
      reply.header('x-request-id', request.id).headers(headers).send(JSON.stringify(state())),
    );
    app.methodTable.add(url, { allow: ['GET', 'HEAD'] });
  }
}
