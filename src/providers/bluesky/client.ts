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

/** What the reads of the provider share. */
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
  if (outages.has(name)) {
    return new ProviderError('unavailable', 'Bluesky is failing at the moment.');
  }
  const absence = absences.find(({ names, says }) => names.includes(name) || says?.test(saying));
  return absence === undefined ? new Refusal(saying) : new ProviderError('missing', absence.means);
}

const outages: ReadonlySet<string> = new Set([
  'InternalServerError',
  'UpstreamFailure',
  'UpstreamTimeout',
  'NotEnoughResources',
]);

interface Absence {
  readonly names: readonly string[];
  readonly says?: RegExp;
  readonly means: string;
}

/** Errors of the AppView for what is not there, by name or message. None of them is used for an outage. */
const absences: readonly Absence[] = [
  { names: ['AccountTakedown'], means: 'Bluesky has suspended this account.' },
  { names: ['AccountDeactivated'], means: 'The owner of this account has deactivated it.' },
  {
    names: [],
    says: /^(?:Profile|Actor) not found|^Unable to resolve handle/i,
    means: 'There is no such account on Bluesky.',
  },
  {
    names: ['NotFound'],
    says: /^Post not found/i,
    means:
      'There is no such post on Bluesky: it was deleted, its account is gone, or it never was.',
  },
  {
    names: ['BlockedActor', 'BlockedByActor'],
    means: 'A block keeps this account from being read.',
  },
];

/** A throttled answer names the moment from which it can be asked again, in Unix seconds. */
function pauseOf(answer: HttpAnswer, clock: Clock): number | undefined {
  const resetSeconds = Number(answer.header('ratelimit-reset') ?? Number.NaN);
  const pauseSeconds = Math.ceil(resetSeconds - clock.now() / 1000);
  return answer.retryAfterSeconds ?? (pauseSeconds > 0 ? pauseSeconds : undefined);
}

type KnownAccounts = ReturnType<typeof createKnownAccounts>;

const maxAccounts = 5000;

/** How long a handle is taken for the same account. Handles change hands, if seldom. */
const knownForMs = 600_000;

/** Creates the memory of the DIDs of handles, so that a walk through pages stays with one account. */
export function createKnownAccounts(clock: Clock) {
  const dids = createMemory<string>({ clock, maxEntries: maxAccounts, ttlMs: knownForMs });
  return {
    /** Notes that an account was read under a name: its handle in any case, or its DID. */
    note: (name: string, { did }: { readonly did: string }): void => {
      const handle = name.toLowerCase();
      if (handle !== did && dids.get(handle) !== did) dids.set(handle, did);
    },
    /** Returns the DID of an account if it is known, else the name. */
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
