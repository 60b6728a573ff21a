import type { Clock } from '../../core/clock.ts';
import type { HttpAnswer, RequestContext } from '../../core/http/http-client.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toStatusFailure } from '../failure.ts';
import { createMemory } from '../memory.ts';
import { type Body, readBody, type Upstream } from '../upstream.ts';

/**
 * Sends a query such as `app.bsky.feed.getPostThread` to an AppView; `null` leaves a parameter out.
 * Throws ProviderError without a body, {@link Refusal} if a parameter is refused.
 */
export type BlueskyQuery = (
  method: string,
  parameters: Readonly<Record<string, string | number | null>>,
  context: RequestContext,
) => Promise<Body>;

export interface Reading {
  readonly query: BlueskyQuery;
  readonly known: KnownAccounts;
  readonly clock: Clock;
}

/** An answer that refuses a parameter. It is `malformed` for callers that do not expect it. */
export class Refusal extends ProviderError {
  /** The message of the AppView, which decides what follows and is not for callers. */
  readonly saying: string;

  constructor(saying: string) {
    super('malformed', 'Bluesky does not accept what Perch asked it for.');
    this.saying = saying;
  }
}

/** A 403: the host refuses requests like this one by a page and not by an answer. */
export class Barred extends ProviderError {
  constructor() {
    super('throttled', 'Bluesky asks for fewer requests.');
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

/** Most answers for what is missing are a 400, and differ only in their messages. */
function toFailure(answer: HttpAnswer, body: Body | null, clock: Clock): ProviderError {
  const { status } = answer;
  if (status === 403) return new Barred();
  const general = toStatusFailure(status, pauseOf(answer, clock));
  if (general !== null) return general;
  if (body === null || status < 400) return createMalformed();
  const name = typeof body.error === 'string' ? body.error : '';
  const saying = typeof body.message === 'string' ? body.message : '';
  if (outages.test(name)) {
    return new ProviderError('unavailable', 'Bluesky is failing at the moment.');
  }
  const absence = absences.find(([names, says]) => names?.test(name) || says?.test(saying));
  return absence === undefined ? new Refusal(saying) : new ProviderError('missing', absence[2]);
}

const outages = /^(?:InternalServerError|UpstreamFailure|UpstreamTimeout|NotEnoughResources)$/;

/** Errors of the AppView for what is not there, by name or message. None of them is used for an outage. */
const absences = [
  [/^AccountTakedown$/, null, 'Bluesky has suspended this account.'],
  [/^AccountDeactivated$/, null, 'The owner of this account has deactivated it.'],
  [
    null,
    /^(?:Profile|Actor) not found|^Unable to resolve handle/i,
    'There is no such account on Bluesky.',
  ],
  [
    /^NotFound$/,
    /^Post not found/i,
    'There is no such post on Bluesky: it was deleted, its account is gone, or it never was.',
  ],
  [/^Blocked(?:By)?Actor$/, null, 'A block keeps this account from being read.'],
] as const;

/** A throttled answer names the moment from which it can be asked again, in Unix seconds. */
function pauseOf(answer: HttpAnswer, clock: Clock): number | undefined {
  const resetSeconds = Number(answer.header('ratelimit-reset') ?? Number.NaN);
  const pauseSeconds = Math.ceil(resetSeconds - clock.now() / 1000);
  return answer.retryAfterSeconds ?? (pauseSeconds > 0 ? pauseSeconds : undefined);
}

type KnownAccounts = ReturnType<typeof createKnownAccounts>;

const memory = { max: 5000, ttlMs: 600_000 };

/** Creates the memory of the DIDs of handles, so that a walk through pages stays with one account. */
export function createKnownAccounts(clock: Clock) {
  const dids = createMemory<string>(clock, memory);
  return {
    /** Notes that an account was read under a name: its handle in any case, or its DID. */
    note: (name: string, { did }: { readonly did: string }): void => {
      const handle = name.toLowerCase();
      if (handle !== did && dids.get(handle) !== did) dids.set(handle, did);
    },
    actorFor: (name: string): string => dids.get(name.toLowerCase()) ?? name.toLowerCase(),
  };
}

export const maxLimit = 100;

export function writeLimit(count: number): number {
  return Math.min(Math.max(Math.trunc(count), 1), maxLimit);
}

/** Returns where a list goes on; `null` at its end, also if the answer names the place it came from. */
export function nextCursor(cursor: unknown, sent: string | null): string | null {
  return typeof cursor === 'string' && cursor !== '' && cursor !== sent ? cursor : null;
}
