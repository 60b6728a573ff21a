import type { Clock } from '../../lib/clock.ts';
import { createExpiringCache } from '../../lib/expiring-cache.ts';
import type { HttpAnswer, RequestContext } from '../../lib/http/http-client.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { toUnavailability } from '../../normalize/unavailable.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { type Body, readBody, type Upstream } from '../upstream.ts';

/** Function that queries an AppView. Omits `null` parameters. Throws ProviderError or Refusal. */
export type BlueskyQuery = (
  method: string,
  parameters: Readonly<Record<string, string | number | null>>,
  context: RequestContext,
) => Promise<Body>;

export interface BlueskyClient {
  readonly query: BlueskyQuery;
  readonly known: KnownAccounts;
  readonly clock: Clock;
}

/** Error for a response that refuses a request parameter. The kind of the error is `malformed`. */
export class Refusal extends ProviderError {
  /** Error message as received from the AppView. API clients of Perch never receive it. */
  readonly rawMessage: string;

  constructor(rawMessage: string) {
    super('malformed', 'Bluesky refused a parameter of the request.');
    this.rawMessage = rawMessage;
  }
}

/** Error `throttled` for status 403: the host refuses all requests to an endpoint. */
export class Banned extends ProviderError {
  constructor() {
    super('throttled', 'Bluesky limits the rate of requests.');
  }
}

export function createQuery(upstream: Upstream, clock: Clock): BlueskyQuery {
  return async (method, parameters, context) => {
    const written = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== null) written.set(name, String(value));
    }
    const answer = await upstream(`/xrpc/${method}?${written}`, context);
    const body = readBody(answer);
    if (answer.status === 200 && body !== null) return body;
    throw toFailure(answer, body, clock);
  };
}

function toFailure(answer: HttpAnswer, body: Body | null, clock: Clock): ProviderError {
  const { status } = answer;
  if (status === 403) return new Banned();
  const general = toStatusFailure(status, pauseOf(answer, clock));
  if (general !== null) return general;
  if (body === null || status < 400) return createMalformed();
  const name = typeof body.error === 'string' ? body.error : '';
  const rawMessage = typeof body.message === 'string' ? body.message : '';
  if (outages.test(name)) {
    return new ProviderError('unavailable', 'Bluesky is failing at the moment.');
  }
  const absence = absences.find(
    ([names, messages]) => names?.test(name) || messages?.test(rawMessage),
  );
  if (absence === undefined) return new Refusal(rawMessage);
  const [, , sentence, reason] = absence;
  return reason === null
    ? new ProviderError('missing', sentence)
    : toMissing(toUnavailability(reason, sentence));
}

const outages = /^(?:InternalServerError|UpstreamFailure|UpstreamTimeout|NotEnoughResources)$/;

const absences = [
  [/^AccountTakedown$/, null, 'Bluesky has suspended this account.', 'suspended'],
  [/^AccountDeactivated$/, null, 'The owner of this account has deactivated it.', null],
  [
    null,
    /^(?:Profile|Actor) not found|^Unable to resolve handle/i,
    'Bluesky has no such account.',
    null,
  ],
  [
    /^NotFound$/,
    /^Post not found/i,
    'Bluesky has no such post: it was deleted, its account was deleted, or it never existed.',
    null,
  ],
  [/^Blocked(?:By)?Actor$/, null, 'This account cannot be read because of a block.', 'blocked'],
] as const;

function pauseOf(answer: HttpAnswer, clock: Clock): number | undefined {
  const resetSeconds = Number(answer.header('ratelimit-reset') ?? Number.NaN);
  const pauseSeconds = Math.ceil(resetSeconds - clock.now() / 1000);
  return answer.retryAfterSeconds ?? (pauseSeconds > 0 ? pauseSeconds : undefined);
}

type KnownAccounts = ReturnType<typeof createKnownAccounts>;

const memory = { max: 5000, ttlMs: 600_000 };

/** Creates a cache of DIDs by handle. Each entry expires after 10 minutes. */
export function createKnownAccounts(clock: Clock) {
  const dids = createExpiringCache<string>(clock, memory);
  return {
    /** Caches the DID of a handle, in any letter case. Does nothing if `name` is a DID. */
    note: (name: string, { did }: { readonly did: string }): void => {
      const handle = name.toLowerCase();
      if (handle !== did && dids.get(handle) !== did) dids.set(handle, did);
    },
    /** Returns the cached DID of an account, or `name` in lower case if no DID is cached. */
    actorFor: (name: string): string => dids.get(name.toLowerCase()) ?? name.toLowerCase(),
  };
}

export const maxLimit = 100;

export const writeLimit = (count: number): number =>
  Math.min(Math.max(Math.trunc(count), 1), maxLimit);

/** Returns the cursor of the next page; `null` if there is none or it repeats `sent`. */
export const nextCursor = (cursor: unknown, sent: string | null): string | null =>
  typeof cursor === 'string' && cursor !== '' && cursor !== sent ? cursor : null;
