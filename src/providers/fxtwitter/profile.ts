import type { Clock } from '../../core/clock.ts';
import { HttpFailure, type RequestContext } from '../../core/http/http-client.ts';
import type { Account } from '../../model/account.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { tellThrottled, toProviderError, untilAborted } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { readBody, type Upstream } from '../upstream.ts';
import { toAnswerFailure, trueStatus } from './client.ts';
import { parseUser, type UserPayload } from './payload.ts';
import { shapeAccount } from './shape.ts';

export type Profiles = ReturnType<typeof createProfiles>;

/** Creates the reads of profiles, which share one control read. They throw ProviderError. */
export function createProfiles(upstream: Upstream, clock: Clock) {
  const control = createControl({
    clock,
    answers: async (handle, context) => isKnown(await readProfile(upstream, handle, context)),
  });
  const look = async (handle: string, context: RequestContext) => {
    const answer = await readProfile(upstream, handle, context);
    if (isKnown(answer)) control.noteSuccess();
    return answer;
  };
  const explain = async (answer: Unseen, handle: string, context: ProviderContext) =>
    answer.is === 'missed'
      ? control.judge(handle, context)
      : new ProviderError('missing', unseenSentences[answer.is]);
  return {
    /** Reads a public account. Throws ProviderError `missing` or `ambiguous` if it is not there. */
    read: async (handle: string, context: ProviderContext): Promise<Account> => {
      const answer = await look(handle, context);
      if (answer.is === 'public') return shapeAccount(answer.user);
      throw await explain(answer, handle, context);
    },
    /** Returns why an account has no list: `missing`, `ambiguous`, or `unavailable` for it only. */
    explainAbsence: async (handle: string, context: ProviderContext): Promise<ProviderError> => {
      const answer = await look(handle, context);
      if (answer.is !== 'public') return explain(answer, handle, context);
      const message = 'The source has this account, but cannot list this of it at the moment.';
      return new ProviderError('unavailable', message, { isGeneral: false });
    },
  };
}

type Unseen = { readonly is: 'protected' | 'suspended' | 'missed' };
type ProfileAnswer = { readonly is: 'public'; readonly user: UserPayload } | Unseen;

export function profilePath(handle: string): string {
  return `/2/profile/${encodeURIComponent(handle)}`;
}

const unknownRoute = 'Not found'; // the message of a 404 where the API is not at all

async function readProfile(
  upstream: Upstream,
  handle: string,
  context: RequestContext,
): Promise<ProfileAnswer> {
  const answer = await upstream(profilePath(handle), context);
  const body = readBody(answer);
  const user = parseUser(body?.user);
  if (answer.status === 200 && user !== null) {
    return user.protected === true ? { is: 'protected' } : { is: 'public', user };
  }
  const { message, user: sent, reason } = body ?? {};
  const namesNoUser = typeof message === 'string' && message !== unknownRoute && !sent;
  if (trueStatus(answer, body) !== 404 || !namesNoUser) throw toAnswerFailure(answer, body);
  return { is: reason === 'suspended' ? 'suspended' : 'missed' };
}

function isKnown({ is }: ProfileAnswer): boolean {
  return is === 'public' || is === 'protected';
}

const unseenSentences = {
  protected: 'This account is protected, and protected accounts are not public.',
  suspended: 'This account is suspended.',
} as const;

interface ControlOptions {
  readonly clock: Clock;
  /** Returns whether the endpoint gives an account; throws ProviderError if it fails. */
  readonly answers: (handle: string, context: RequestContext) => Promise<boolean>;
}

/** X's own account, which exists as long as X does, and the control of that one. */
const [controlHandle, secondHandle] = ['x', 'xdevelopers'] as const;

const freshMs = 60_000;

/**
 * Creates the second witness of an account's absence: an outage of X is answered alike, so a well-known
 * account is asked for through the same endpoint.
 */
export function createControl({ clock, answers }: ControlOptions) {
  const flights = new Map<string, Promise<boolean | ProviderError>>();
  let succeededMs = Number.NEGATIVE_INFINITY;
  const noteSuccess = (): void => {
    succeededMs = clock.now();
  };
  const look = async (handle: string, asker: RequestContext): Promise<boolean | ProviderError> => {
    try {
      // It goes on without its callers: the client bounds it, and its success serves the next miss.
      const { signal } = new AbortController();
      const isAnswered = await answers(handle, { ...asker, signal });
      if (isAnswered) noteSuccess();
      return isAnswered;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return error;
    } finally {
      flights.delete(handle);
    }
  };
  return {
    noteSuccess,
    /** Returns the error for an account not found. Concurrent callers share a control read. */
    judge: async (handle: string, context: ProviderContext): Promise<ProviderError> => {
      const ageMs = clock.now() - succeededMs;
      if (ageMs >= 0 && ageMs <= freshMs) return toVerdict(true, context);
      const control = handle.toLowerCase() === controlHandle ? secondHandle : controlHandle;
      const flight = flights.get(control) ?? look(control, context);
      flights.set(control, flight);
      const { signal } = context;
      return toVerdict(await untilAborted(flight, signal, abandoned), context);
    },
  };
}

const abandoned = () =>
  toProviderError(new HttpFailure('aborted', 'Nobody waits for the control read.'));

function toVerdict(outcome: boolean | ProviderError, context: ProviderContext): ProviderError {
  if (outcome === true) return new ProviderError('missing', 'There is no such account.');
  tellThrottled(context, outcome);
  if (outcome !== false && outcome.kind === 'throttled') return outcome;
  const message = 'The source has no such account, or could not look for it.';
  return new ProviderError('ambiguous', message, { cause: outcome || null });
}
