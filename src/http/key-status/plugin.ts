import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Waiting } from '../../fetching/cost.ts';
import { configOf } from '../../web/methods.ts';
import { privateCaching } from '../../web/reply.ts';
import { type Load, overloaded } from '../operations/load.ts';
import type { AllowanceSurface, Identification, Identity } from './identity.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Allowance that requests spend, or a function that returns it. Callers without one are not identified. */
    allowance?: AllowanceSurface | ((request: FastifyRequest) => AllowanceSurface | null);
  }

  interface FastifyRequest {
    identity: Identity | null;
  }
}

/**
 * Identifies the caller of each route that has an allowance, and adds `X-Api-Key-Status` and the `RateLimit` headers to
 * every reply of it, also to problems and refused methods (docs/keys.md). The route refuses keys (`identity.refusal`).
 * Replies that skip Fastify's `send` add `identity.headers()` themselves.
 */
export function setKeyStatus(app: FastifyInstance, identification: Identification): void {
  app.decorateRequest('identity', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.identity = identify(request, identification);
    done();
  });
  app.addHook('onSend', async (request, reply) => {
    if (request.identity !== null) addHeaders(reply, request.identity);
  });
}

/** Returns the caller of a request, by the configuration of its route; `null` if the route has no allowance. */
export function identify(request: FastifyRequest, { identify }: Identification): Identity | null {
  const { allowance = null } = configOf(request);
  const surface = typeof allowance === 'function' ? allowance(request) : allowance;
  return surface === null ? null : identify(request, surface);
}

function addHeaders(reply: FastifyReply, identity: Identity): void {
  reply.headers(toKeyHeaders(identity));
  // A preflight is answered the same for everybody.
  if (!identity.variesByKey || reply.statusCode === 204) return;
  const vary = reply.getHeader('vary');
  const names = new Set(['Accept', 'Authorization', ...String(vary ?? '').split(/[\s,]+/)]);
  reply.header('vary', [...names].filter((name) => name !== '').join(', '));
}

/** Returns the headers that tell a caller about the key and the allowance, for replies that are not prepared. */
export function toKeyHeaders({ isPrivate, headers }: Identity): Readonly<Record<string, string>> {
  const list = headers();
  const pairs = list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []));
  return {
    ...(isPrivate ? { 'cache-control': privateCaching } : {}),
    ...Object.fromEntries(pairs),
  };
}

/** Returns the caller of a route that has an allowance; throws Error if it has none. */
export function identityOf({ identity }: FastifyRequest): Identity {
  if (identity === null) throw new Error('The route of the request has no allowance.');
  return identity;
}

/** @throws Problem `overloaded` under high load, or what its key is refused with */
export function refuseRead(request: FastifyRequest, load: Load): void {
  const refusal = load.isHigh ? overloaded() : identityOf(request).refusal;
  if (refusal !== null) throw refusal;
}

/** Returns the caller as one that waits for an answer. */
export function toWaiting(request: FastifyRequest, { clientOf }: Identification): Waiting {
  return {
    caller: identityOf(request).caller,
    // Created when they are read, which a cached answer does not do.
    get signal() {
      return request.signal;
    },
    get client() {
      return clientOf(request);
    },
  };
}
