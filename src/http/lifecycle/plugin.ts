import type { FastifyInstance, FastifyRequest } from 'fastify';
import { configOf } from '../../web/methods.ts';
import type { AliasRoute } from '../reads/routes.ts';
import { type LifecycleHeaders, toLifecycleHeaders } from './lifecycle.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecated?: AliasRoute;
  }
}

/** Adds `Deprecation`, `Sunset` and `Link` to all replies of deprecated routes that Fastify sends (docs/versioning.md). */
export function setLifecycle(app: FastifyInstance, baseUrl: string): void {
  app.addHook('onSend', async (request, reply) => {
    reply.headers({ ...lifecycleOf(request, baseUrl) });
  });
}

/** Returns the lifecycle headers of a request's route; `null` if the route is not deprecated. */
export function lifecycleOf(request: FastifyRequest, baseUrl: string): LifecycleHeaders | null {
  const { deprecated } = configOf(request);
  return deprecated === undefined
    ? null
    : toLifecycleHeaders(deprecated, request.raw.url ?? '', baseUrl);
}
