import type { Clock } from '../../core/clock.ts';
import type { HttpAnswer, RequestContext } from '../../core/http/http-client.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toStatusFailure } from '../failure.ts';
import { readJson, type Upstream } from '../upstream.ts';

/** The object of JSON that every answer is. */
export type Body = Readonly<Record<string, unknown>>;

/** Parameters of a query; null leaves one out. */
export type Parameters = Readonly<Record<string, string | number | null>>;

/** Asks an AppView. */
export interface BlueskyClient {
  /**
   * Gives the body of the answer to a query, for example `app.bsky.feed.getPostThread`.
   *
   * @throws ProviderError where there is none; {@link Refusal} where it says that a parameter is wrong
   */
  query(method: string, parameters: Parameters, context: RequestContext): Promise<Body>;
}

/** An answer that refuses a parameter. It is `malformed` for whoever does not expect it. */
export class Refusal extends ProviderError {
  /** What the AppView says, for a decision and not for callers. */
  readonly saying: string;

  constructor(saying: string) {
    super('malformed', 'Bluesky does not accept what Perch asked it for.');
    this.saying = saying;
  }
}

/** Tells that the host keeps out requests like this one, by a page and not by an answer. */
export class Barred extends ProviderError {
  constructor() {
    super('throttled', 'Bluesky asks for fewer requests.');
  }
}

/** Creates a client of one host. */
export function createClient(upstream: Upstream, clock: Clock): BlueskyClient {
  return {
    query: async (method, parameters, context) => {
      const path = `/xrpc/${method}?${writeParameters(parameters)}`;
      return readAnswer(await upstream(path, context), clock);
    },
  };
}

function writeParameters(parameters: Parameters): URLSearchParams {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null) written.set(name, String(value));
  }
  return written;
}

function readAnswer(answer: HttpAnswer, clock: Clock): Body {
  const body = toBody(readJson(answer));
  if (answer.status === 200 && body !== null) return body;
  throw toFailure(answer, body, clock);
}

function toBody(json: unknown): Body | null {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return isObject ? { ...json } : null;
}

/** Most answers for what is missing are a 400, and are told apart by their words (Bluesky, section 5). */
function toFailure(answer: HttpAnswer, body: Body | null, clock: Clock): ProviderError {
  const { status } = answer;
  if (status === 403) return new Barred();
  const general = toStatusFailure(status, pauseOf(answer, clock));
  if (general !== null) return general;
  if (body === null || status < 400) return createMalformed();
  const name = typeof body.error === 'string' ? body.error : '';
  const saying = typeof body.message === 'string' ? body.message : '';
  if (outages.has(name)) return new ProviderError('unavailable', failing);
  const absence = absences.find(({ says }) => says(name, saying));
  return absence === undefined ? new Refusal(saying) : new ProviderError('missing', absence.means);
}

const failing = 'Bluesky is failing at the moment.';
const outages: ReadonlySet<string> = new Set([
  'InternalServerError',
  'UpstreamFailure',
  'UpstreamTimeout',
  'NotEnoughResources',
]);

interface Absence {
  says(name: string, saying: string): boolean;
  readonly means: string;
}

/** What the AppView says of what is not there. Its answers are verdicts: an outage is told otherwise. */
const absences: readonly Absence[] = [
  {
    says: (name) => name === 'AccountTakedown',
    means: 'Bluesky has suspended this account.',
  },
  {
    says: (name) => name === 'AccountDeactivated',
    means: 'The owner of this account has deactivated it.',
  },
  {
    says: (_, saying) => /^(?:Profile|Actor) not found|^Unable to resolve handle/i.test(saying),
    means: 'There is no such account on Bluesky.',
  },
  {
    says: (name, saying) => name === 'NotFound' || /^Post not found/i.test(saying),
    means:
      'There is no such post on Bluesky: it was deleted, its account is gone, or it never was.',
  },
  {
    says: (name) => name === 'BlockedActor' || name === 'BlockedByActor',
    means: 'A block keeps this account from being read.',
  },
];

/** A throttled answer names the moment from which it can be asked again, in Unix seconds. */
function pauseOf(answer: HttpAnswer, clock: Clock): number | undefined {
  const resetSeconds = Number(answer.header('ratelimit-reset') ?? Number.NaN);
  const pauseSeconds = Math.ceil(resetSeconds - clock.now() / 1000);
  return answer.retryAfterSeconds ?? (pauseSeconds > 0 ? pauseSeconds : undefined);
}
