import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Account, AddressPolicy, Allowances } from '../../access/allowances.ts';
import { toClient } from '../../access/client-address.ts';
import { authorizationFault, presentsBearer, readBearer } from '../../access/keys/authorization.ts';
import type { KeyCheck, KeyStore } from '../../access/keys/key-store.ts';
import type { Requester } from '../../fetching/cost.ts';
import type { Caller, Client, KeyStatus } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { addVary, type Headers, privateCaching } from '../headers.ts';
import { type Load, overloaded } from '../monitoring/load.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Request quota of the route, or a function that returns it; without one, no quota. */
    allowance?: AllowanceSurface | ((request: FastifyRequest) => AllowanceSurface | null);
  }

  interface FastifyRequest {
    identity: Identity | null;
  }
}

/**
 * Registers hooks that identify callers, and add to replies that go through Fastify's `send` the
 * `RateLimit` headers (docs/keys.md) and, where keys apply, `Vary`. A handler must reply with
 * `identity.refusal` if it is not `null`.
 */
export function setAllowances(app: FastifyInstance, identification: Identification): void {
  const identify = (request: FastifyRequest, next: (error?: Error) => void): void => {
    const surface = allowanceOf(request.routeOptions.config, request);
    const identity = surface === null ? null : identification.identify(request, surface);
    if (identity instanceof Promise) {
      identity.then((found) => {
        request.identity = found;
        next();
      }, next);
    } else {
      request.identity = identity;
      next();
    }
  };
  app.addHook('onRequest', (request, _reply, done) => identify(request, done));
  app.addHook('onSend', (request, reply, payload, done) => {
    const send = () => {
      if (request.identity !== null) reply.headers(request.identity.headers());
      // 204 is the reply to a preflight, which does not depend on the caller.
      if (request.identity?.variesByKey === true && reply.statusCode !== 204) {
        addVary(reply, 'Accept', 'Authorization');
      }
      done(null, payload);
    };
    // A hook of the server may have refused the request before the hook above.
    if (request.identity === null) identify(request, send);
    else send();
  });
}

/** Returns the request quota of a request; `null` if its route has none. */
export function allowanceOf(
  { allowance }: FastifyContextConfig,
  request: FastifyRequest,
): AllowanceSurface | null {
  return typeof allowance === 'function' ? allowance(request) : (allowance ?? null);
}

/** Returns the identity of the caller. Throws Error if the route has no request quota. */
export function identityOf({ identity }: FastifyRequest): Identity {
  if (identity === null) throw new Error('The route of the request has no allowance.');
  return identity;
}

/**
 * Rejects a request under high load, or with an invalid header `Authorization`.
 * @throws Problem `overloaded`; `invalid_key` for an unknown or disabled API key; `invalid_option`
 *   for a repeated or overlong header
 */
export function refuseRead(request: FastifyRequest, load: Load): void {
  const refusal = load.isHigh ? overloaded() : identityOf(request).refusal;
  if (refusal !== null) throw refusal;
}

/** Returns caller, client address and abort signal, for operations that fetch from upstreams. */
export function toRequester(request: FastifyRequest, { clientOf }: Identification): Requester {
  return {
    caller: identityOf(request).caller,
    signal: request.signal,
    client: clientOf(request),
    span: request.span,
  };
}

/**
 * Group of routes with a separate request quota. `post`: posts, replies and oEmbed. `browse`: all
 * other reads. `media`: pictures. `post` and `media` ignore API keys
 * (`docs/contract/reads.md#where-keys-apply`).
 */
export type AllowanceSurface = 'browse' | 'post' | 'media';

export interface Identity {
  readonly caller: Caller;
  /** Whether the route evaluates API keys. If so, replies vary by `Authorization`. */
  readonly variesByKey: boolean;
  /** Error to send as the reply; `null` if the request is accepted. */
  readonly refusal: Problem | null;
  /** Updates the local copy of a shared quota; `null` if it is less than one second old. */
  readonly refresh?: (() => Promise<void> | null) | undefined;
  /**
   * Returns the `RateLimit` headers, the status of the key and, for a request with a key (even an
   * invalid one), the `Cache-Control` that keeps shared caches from storing the reply.
   */
  headers(): Headers;
}

export type Identification = ReturnType<typeof createIdentification>;

interface IdentificationOptions extends IdentityOptions {
  readonly keys: Pick<KeyStore, 'check'>;
  readonly clientOf: (request: FastifyRequest) => string;
}

export function createIdentification(options: IdentificationOptions) {
  const { keys, allowances, clientOf } = options;
  const anonymousAt = createAddressCache(options);
  const keyedBy = createKeyCache(options);
  const identifyPublic = (request: FastifyRequest, facts: Omit<IdentityFacts, 'account'>) => {
    const account = allowances.accountOf('public', clientOf(request));
    return createIdentity(options, { ...facts, account });
  };
  const toIdentity = (check: KeyCheck, request: FastifyRequest): Identity => {
    if (check.status === 'valid') return keyedBy(check);
    const refusal = check.status === 'invalid' ? unknownKey() : null;
    return identifyPublic(request, { status: check.status, refusal });
  };
  const identifyKey = (key: string, request: FastifyRequest): Identity | Promise<Identity> => {
    const check = keys.check(key);
    if (!(check instanceof Promise)) return toIdentity(check, request);
    return check.then((found) => toIdentity(found, request));
  };
  const identifyAuthorization = (request: FastifyRequest): Identity | Promise<Identity> => {
    const { raw } = request;
    const fault = authorizationFault(raw);
    if (fault !== null) {
      // An ambiguous header is refused. If it contains a key, the key has not been checked.
      const status = presentsBearer(raw) ? 'invalid' : 'anonymous';
      return identifyPublic(request, { status, refusal: fault });
    }
    const key = readBearer(raw);
    return key === null ? anonymousAt(clientOf(request)).public : identifyKey(key, request);
  };
  return {
    /** Returns the client that limits such as open connections apply to, with or without a key. */
    clientOf: (request: FastifyRequest): Client => toClient(clientOf(request)),
    /** Returns the caller; a promise, which never rejects, if instances share the API keys. */
    identify: (request: FastifyRequest, surface: AllowanceSurface) => {
      if (surface === 'browse' && request.headers.authorization !== undefined) {
        return refreshed(identifyAuthorization(request));
      }
      const known = anonymousAt(clientOf(request));
      return refreshed(known[surface === 'browse' ? 'public' : surface]);
    },
  };
}

function refreshed(identity: Identity | Promise<Identity>): Identity | Promise<Identity> {
  if (identity instanceof Promise) return identity.then(refreshed);
  return identity.refresh?.()?.then(() => identity) ?? identity;
}

type ValidKey = KeyCheck & { readonly status: 'valid' };

const maxCached = 1000;

function createKeyCache(options: IdentityOptions): (key: ValidKey) => Identity {
  const cache = new LRUCache<string, Identity & { readonly allowance: number | null }>({
    max: maxCached,
  });
  return ({ id, allowance, status }) => {
    const cached = cache.get(id);
    if (cached !== undefined && cached.allowance === allowance) return cached;
    const account = options.allowances.accountOf('key', id, allowance);
    const identity = { ...createIdentity(options, { account, status, refusal: null }), allowance };
    cache.set(id, identity);
    return identity;
  };
}

function createAddressCache(options: IdentityOptions) {
  const create = (policy: AddressPolicy, address: string) => {
    const account = options.allowances.accountOf(policy, address);
    const status = policy === 'public' ? 'anonymous' : null;
    return createIdentity(options, { account, status, refusal: null });
  };
  const cache = new LRUCache<string, Readonly<Record<AddressPolicy, Identity>>>({
    max: maxCached,
    memoMethod: (address) => ({
      public: create('public', address),
      post: create('post', address),
      media: create('media', address),
    }),
  });
  return (address: string) => cache.memo(address);
}

interface IdentityFacts extends Pick<Identity, 'refusal'> {
  readonly account: Account;
  /** Status of the caller's API key; `null` for routes that ignore API keys. */
  readonly status: KeyStatus | null;
}

type IdentityOptions = Readonly<{ allowances: Allowances; clock: Clock }>;

function createIdentity(options: IdentityOptions, facts: IdentityFacts): Identity {
  const { account, status, refusal } = facts;
  const { refresh } = options.allowances;
  return {
    variesByKey: status !== null,
    refusal,
    caller: {
      share: status === 'valid' ? 'keyed' : 'anonymous',
      spend: () => options.allowances.spend(account),
    },
    refresh: refresh && (() => refresh(account)),
    headers: createAccountHeaders(options, account, status),
  };
}

/** Creates a function that returns and caches a caller's headers (docs/keys.md). */
function createAccountHeaders(
  { allowances, clock }: IdentityOptions,
  account: Account,
  status: KeyStatus | null,
): Identity['headers'] {
  const { policy, limit } = account;
  const { windowSeconds } = allowances.limits;
  const isPrivate = status !== null && status !== 'anonymous';
  const fixed: Headers = {
    ...(status !== null && { 'x-api-key-status': status }),
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSeconds}`,
    ...(isPrivate && { 'cache-control': privateCaching }),
  };
  let cached = fixed;
  let revision = Number.NaN;
  let validity = { fromMs: 0, untilMs: 0 };
  const isCurrent = (): boolean => {
    if (revision !== allowances.revision) return false;
    if (validity.untilMs === Number.POSITIVE_INFINITY) return true;
    const nowMs = clock.now();
    return nowMs >= validity.fromMs && nowMs < validity.untilMs;
  };
  return () => {
    if (isCurrent()) return cached;
    revision = allowances.revision;
    const { remaining, resetSeconds, validMs } = allowances.stateOf(account);
    const fromMs = clock.now();
    validity = { fromMs, untilMs: fromMs + validMs };
    cached = { ...fixed, ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}` };
    return cached;
  };
}

function unknownKey(): Problem {
  const detail = 'The key in the header `Authorization` is unknown or disabled.';
  return new Problem('invalid_key', { detail });
}
