import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Account, Allowances } from '../../access/allowances/allowances.ts';
import { toClient } from '../../access/client-address.ts';
import { authorizationFault, presentsBearer, readBearer } from '../../access/keys/authorization.ts';
import type { KeyCheck, KeyStore } from '../../access/keys/key-store.ts';
import type { Caller, Client, KeyStatus } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';

/** The surfaces that have allowances. Keys apply to `browse` only (`docs/contract/reads.md#where-keys-apply`). */
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

/** Creates the identification of callers. */
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

function createIdentity(
  options: IdentityOptions,
  { account, status, refusal }: IdentityFacts,
): Identity {
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
    const { remaining, resetSeconds, holdsMs } = allowances.stateOf(account);
    const fromMs = clock.now();
    holds = { fromMs, untilMs: fromMs + holdsMs };
    made = [...fixed, `"${policy}";r=${remaining};t=${resetSeconds}`];
    return made;
  };
}

function unknownKey(): Problem {
  return new Problem('invalid_key', {
    detail: 'The key in the header `Authorization` is unknown or disabled.',
  });
}
