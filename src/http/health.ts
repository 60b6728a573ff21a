import type { FastifyInstance } from 'fastify';
import type { ProviderChain } from '../fetching/provider-chain.ts';
import { refuseOtherMethods } from './methods.ts';

/** The context of the health routes. */
export interface HealthOptions {
  readonly chain: ProviderChain;
}

const headers = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
} as const;

/**
 * Registers `/health/live` (the process answers) and `/health/ready` (it takes work). A draining
 * process is refused readiness at admission; an open breaker is shown and changes nothing.
 */
export async function healthPlugin(app: FastifyInstance, { chain }: HealthOptions) {
  app.get('/health/live', async (_request, reply) =>
    reply.headers(headers).send(JSON.stringify({ status: 'ok' })),
  );
  app.get('/health/ready', async (_request, reply) =>
    reply.headers(headers).send(JSON.stringify({ status: 'ready', providers: chain.states() })),
  );
  refuseOtherMethods(app, '/health/live', ['GET', 'HEAD']);
  refuseOtherMethods(app, '/health/ready', ['GET', 'HEAD']);
}
