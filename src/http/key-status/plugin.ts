import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Account, Allowances } from '../../access/allowances/allowances.ts';
import { toClient } from '../../access/client-address.ts';
import { authorizationFault, presentsBearer, readBearer } from '../../access/keys/authorization.ts';
import type { KeyCheck, KeyStore } from '../../access/keys/key-store.ts';
import type { Caller, Client, KeyStatus } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Requester } from '../../fetching/cost.ts';
import { configOf } from '../../web/methods.ts';
import { privateCaching } from '../../web/reply.ts';
import { type Load, overloaded } from '../operations/load.ts';

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
    const { allowance = null } = configOf(request);
    const surface = typeof allowance === 'function' ? allowance(request) : allowance;
    request.identity = surface === null ? null : identification.identify(request, surface);
    done();
  });
  app.addHook('onSend', async ({ identity }, reply) => {
    if (identity === null) return;
    reply.headers(toKeyHeaders(identity));
    // A preflight is answered the same for everybody.
    if (!identity.variesByKey || reply.statusCode === 204) return;
    const vary = String(reply.getHeader('vary') ?? '').split(/[\s,]+/);
    const names = new Set(['Accept', 'Authorization', ...vary].filter((name) => name !== ''));
    reply.header('vary', [...names].join(', '));
  });
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
export function toRequester(request: FastifyRequest, { clientOf }: Identification): Requester {
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

/** The surfaces that have allowances. Keys apply to the first only (`docs/contract/reads.md#where-keys-apply`). */
export type AllowanceSurface = 'browse' | 'post';

export interface Identity {
  readonly caller: Caller;
  /** Whether a key was presented, whatever it is worth: nobody else may see the reply. */
  readonly isPrivate: boolean;
  /** Whether the route looks at keys, so that replies vary by `Authorization`. */
  readonly variesByKey: boolean;
  /** Why the request is not answered; `null` where it is. */
  readonly refusal: Problem | null;
  /** Returns the current `RateLimit` and key headers, names and values in turn. */
  headers(): readonly string[];
}

export interface Identification {
  identify(request: FastifyRequest, surface: AllowanceSurface): Identity;
  /** Returns the client that a request's work is counted under, whatever key was presented. */
  clientOf(request: FastifyRequest): Client;
}

interface IdentificationOptions extends IdentityOptions {
  readonly keys: Pick<KeyStore, 'check'>;
  readonly clientOf: (request: FastifyRequest) => string;
}

export function createIdentification(options: IdentificationOptions): Identification {
  const { keys, allowances, clientOf } = options;
  const anonymousAt = createAddressMemory(options);
  const keyedBy = createKeyMemory(options);
  const identifyPublic = (request: FastifyRequest, facts: Omit<IdentityFacts, 'account'>) => {
    const account = allowances.accountOf('public', clientOf(request));
    return createIdentity(options, { ...facts, account });
  };
  const identifyKey = (key: string, request: FastifyRequest): Identity => {
    const check = keys.check(key);
    if (check.status === 'valid') return keyedBy(check);
    const refusal = check.status === 'invalid' ? unknownKey() : null;
    return identifyPublic(request, { status: check.status, refusal });
  };
  const identifyAuthorization = (request: FastifyRequest): Identity => {
    const { raw } = request;
    const fault = authorizationFault(raw);
    if (fault !== null) {
      // What cannot be told apart is refused; if it holds a key, nothing says that the key is good.
      const status = presentsBearer(raw) ? 'invalid' : 'anonymous';
      return identifyPublic(request, { status, refusal: fault });
    }
    const key = readBearer(raw);
    return key === null ? anonymousAt(clientOf(request)).public : identifyKey(key, request);
  };
  return {
    clientOf: (request) => toClient(clientOf(request)),
    identify: (request, surface) => {
      if (surface === 'browse' && request.headers.authorization !== undefined) {
        return identifyAuthorization(request);
      }
      const known = anonymousAt(clientOf(request));
      return surface === 'post' ? known.post : known.public;
    },
  };
}

type ValidKey = KeyCheck & { readonly status: 'valid' };

/** Maximum number of identities that are remembered of keys, and of addresses. */
const maxRemembered = 1000;

function createKeyMemory(options: IdentityOptions): (key: ValidKey) => Identity {
  const remembered = new LRUCache<string, Identity & { readonly allowance: number | null }>({
    max: maxRemembered,
  });
  return ({ id, allowance, status }) => {
    const known = remembered.get(id);
    if (known !== undefined && known.allowance === allowance) return known;
    const account = options.allowances.accountOf('key', id, allowance);
    const made = { ...createIdentity(options, { account, status, refusal: null }), allowance };
    remembered.set(id, made);
    return made;
  };
}

/** Remembers what is the same for all requests without a key from an address. */
function createAddressMemory(options: IdentityOptions) {
  const create = (policy: 'public' | 'post', address: string) => {
    const account = options.allowances.accountOf(policy, address);
    const status = policy === 'public' ? 'anonymous' : null;
    return createIdentity(options, { account, status, refusal: null });
  };
  const remembered = new LRUCache<string, Readonly<Record<'public' | 'post', Identity>>>({
    max: maxRemembered,
    memoMethod: (address) => ({ public: create('public', address), post: create('post', address) }),
  });
  return (address: string) => remembered.memo(address);
}

interface IdentityFacts extends Pick<Identity, 'refusal'> {
  readonly account: Account;
  /** `null` where keys are not looked at. */
  readonly status: KeyStatus | null;
}

interface IdentityOptions {
  readonly allowances: Allowances;
  readonly clock: Clock;
}

function createIdentity(options: IdentityOptions, facts: IdentityFacts): Identity {
  const { account, status, refusal } = facts;
  return {
    isPrivate: status !== null && status !== 'anonymous',
    variesByKey: status !== null,
    refusal,
    caller: {
      share: status === 'valid' ? 'keyed' : 'anonymous',
      spend: () => options.allowances.spend(account),
    },
    headers: createAccountHeaders(options, account, status),
  };
}

/** Creates the headers of an account (docs/keys.md), which are made anew only when they can have changed. */
function createAccountHeaders(
  { allowances, clock }: IdentityOptions,
  account: Account,
  status: KeyStatus | null,
): Identity['headers'] {
  const { policy, limit } = account;
  const { windowSeconds } = allowances.limits;
  const fixed = [
    ...(status === null ? [] : ['x-api-key-status', status]),
    'ratelimit-policy',
    `"${policy}";q=${limit};w=${windowSeconds}`,
    'ratelimit',
  ];
  let made: readonly string[] = fixed;
  let revision = Number.NaN;
  let holds = { fromMs: 0, untilMs: 0 };
  const isCurrent = (): boolean => {
    if (revision !== allowances.revision) return false;
    if (holds.untilMs === Number.POSITIVE_INFINITY) return true;
    const nowMs = clock.now();
    return nowMs >= holds.fromMs && nowMs < holds.untilMs;
  };
  return () => {
    if (isCurrent()) return made;
    revision = allowances.revision;
    const { remaining, resetSeconds, validMs } = allowances.stateOf(account);
    const fromMs = clock.now();
    holds = { fromMs, untilMs: fromMs + validMs };
    made = [...fixed, `"${policy}";r=${remaining};t=${resetSeconds}`];
    return made;
  };
}

function unknownKey(): Problem {
  const detail = 'The key in the header `Authorization` is unknown or disabled.';
  return new Problem('invalid_key', { detail });
}
