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
  /** True where a key was presented, whatever it is worth: nobody else may see the reply. */
  readonly isPrivate: boolean;
  /** True if the route looks at keys, so that replies vary by `Authorization`. */
  readonly variesByKey: boolean;
  readonly refusal: Problem | null;
  /** The headers that tell of it, names and values in turn; of now, so after what is spent. */
  headers(): readonly string[];
}

export interface Identification {
  identify(request: FastifyRequest, surface: AllowanceSurface): Identity;
  /** Returns the client that a request's work is counted under, whatever key was presented. */
  clientOf(request: FastifyRequest): Client;
}

export interface IdentificationOptions {
  readonly keys: Pick<KeyStore, 'check'>;
  readonly allowances: Allowances;
  readonly clock: Clock;
  readonly clientOf: (request: FastifyRequest) => string;
}

/** Creates the identification of callers. */
export function createIdentification(options: IdentificationOptions): Identification {
  const { keys, allowances, clientOf } = options;
  const anonymousAt = createAddressMemory(options);
  const keyedBy = createKeyMemory(options);
  const underPublicAllowance = (request: FastifyRequest, facts: Omit<IdentityFacts, 'account'>) => {
    const account = allowances.accountOf('public', clientOf(request));
    return createIdentity(options, { ...facts, account });
  };
  const identifyKey = (key: string, request: FastifyRequest): Identity => {
    const check = keys.check(key);
    if (check.status === 'valid') return keyedBy(check);
    const refusal = check.status === 'invalid' ? unknownKey() : null;
    return underPublicAllowance(request, { status: check.status, isPrivate: true, refusal });
  };
  const identifyAuthorization = (request: FastifyRequest): Identity => {
    const { raw } = request;
    const refusal = authorizationFault(raw);
    if (refusal !== null) {
      // What cannot be told apart is refused; if it holds a key, nothing says that the key is good.
      const worth = presentsBearer(raw) ? presented : anonymous;
      return underPublicAllowance(request, { ...worth, refusal });
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

const anonymous = { status: 'anonymous', isPrivate: false } as const;
const presented = { status: 'invalid', isPrivate: true } as const;

type ValidKey = KeyCheck & { readonly status: 'valid' };

const maxRemembered = 1000;

function createKeyMemory(options: IdentityOptions): (key: ValidKey) => Identity {
  const remembered = new LRUCache<string, Identity & { readonly allowance: number | null }>({
    max: maxRemembered,
  });
  return ({ id, allowance }) => {
    const known = remembered.get(id);
    if (known !== undefined && known.allowance === allowance) return known;
    const account = options.allowances.accountOf('key', id, allowance);
    const facts = { account, status: 'valid', isPrivate: true, refusal: null } as const;
    const made = { ...createIdentity(options, facts), allowance };
    remembered.set(id, made);
    return made;
  };
}

interface AnonymousIdentities {
  readonly public: Identity;
  readonly post: Identity;
}

function createAddressMemory(options: IdentityOptions): (address: string) => AnonymousIdentities {
  const make = (address: string): AnonymousIdentities => {
    const { allowances } = options;
    const facts = { ...anonymous, refusal: null };
    const account = allowances.accountOf('public', address);
    const postAccount = allowances.accountOf('post', address);
    return {
      public: createIdentity(options, { ...facts, account }),
      post: createIdentity(options, { ...facts, account: postAccount, status: null }),
    };
  };
  const remembered = new LRUCache<string, AnonymousIdentities>({
    max: maxRemembered,
    memoMethod: make,
  });
  return (address) => remembered.memo(address);
}

interface IdentityFacts extends Pick<Identity, 'isPrivate' | 'refusal'> {
  readonly account: Account;
  readonly status: KeyStatus | null;
}

type IdentityOptions = Pick<IdentificationOptions, 'allowances' | 'clock'>;

function createIdentity(options: IdentityOptions, facts: IdentityFacts): Identity {
  const { account, status, isPrivate, refusal } = facts;
  return {
    isPrivate,
    variesByKey: status !== null,
    refusal,
    caller: {
      share: status === 'valid' ? 'keyed' : 'anonymous',
      spend: () => options.allowances.spend(account),
    },
    headers: createAccountHeaders(options, account, status),
  };
}

/** Creates the headers of an account (draft-ietf-httpapi-ratelimit-headers), made anew only when they can have changed. */
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
