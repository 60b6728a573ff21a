import type { Clock } from '../../lib/clock.ts';
import { HttpFailure, type RequestContext } from '../../lib/http/http-client.ts';
import { createCoalescer } from '../../lib/scheduling/coalesce.ts';
import { untilAborted } from '../../lib/scheduling/deadline.ts';
import type { Account } from '../../model/account.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { toUnavailability } from '../../normalize/unavailable.ts';
import { reportThrottle, toMissing, toProviderError } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { readBody, type Upstream } from '../upstream.ts';
import { toAnswerFailure, trueStatus } from './client.ts';
import { shapeAccount } from './normalize.ts';
import { parseUser, type UserPayload } from './wire.ts';

export type Profiles = ReturnType<typeof createProfiles>;

/** Creates the functions that read profiles. They throw ProviderError if a request fails. */
export function createProfiles(upstream: Upstream, clock: Clock) {
  const control = createControl({
    clock,
    answers: async (handle, context) => isKnown(await readProfile(upstream, handle, context)),
  });
  const readAndNote = async (handle: string, context: RequestContext) => {
    const answer = await readProfile(upstream, handle, context);
    if (isKnown(answer)) control.noteSuccess();
    return answer;
  };
  const explain = async (answer: UnavailableProfile, handle: string, context: ProviderContext) =>
    answer.is === 'missed'
      ? control.explainMiss(handle, context)
      : toMissing(toUnavailability(answer.is, unavailableSentences[answer.is]));
  return {
    /**
     * Reads a public account.
     * @throws ProviderError `missing` if the account is protected, suspended or does not exist;
     *   `ambiguous` or `throttled` if X does not find it, and Perch cannot confirm that X finds
     *   others
     */
    read: async (handle: string, context: ProviderContext): Promise<Account> => {
      const answer = await readAndNote(handle, context);
      if (answer.is === 'public') return shapeAccount(answer.user);
      throw await explain(answer, handle, context);
    },
    /** Returns the profile's error; `unavailable` if it is public and only the list failed. */
    explainAbsence: async (handle: string, context: ProviderContext): Promise<ProviderError> => {
      const answer = await readAndNote(handle, context);
      if (answer.is !== 'public') return explain(answer, handle, context);
      const message = 'The source has this account, but cannot send this list at the moment.';
      return new ProviderError('unavailable', message, { isProviderWide: false });
    },
  };
}

type UnavailableProfile = { readonly is: 'protected' | 'suspended' | 'missed' };
type ProfileAnswer = { readonly is: 'public'; readonly user: UserPayload } | UnavailableProfile;

export const profilePath = (handle: string): string => `/2/profile/${encodeURIComponent(handle)}`;

const unknownRoute = 'Not found'; // message of a 404 by a host without this API

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

const isKnown = ({ is }: ProfileAnswer): boolean => is === 'public' || is === 'protected';

const unavailableSentences = {
  protected: 'This account is protected, and protected accounts are not public.',
  suspended: 'This account is suspended.',
} as const;

interface ControlOptions {
  readonly clock: Clock;
  /** Returns whether the profile endpoint finds an account. Rejects with ProviderError. */
  readonly answers: (handle: string, context: RequestContext) => Promise<boolean>;
}

const [controlHandle, secondHandle] = ['x', 'xdevelopers'] as const;

const freshMs = 60_000;

/** Creates functions that read a well-known account to tell a missing account from an outage. */
export function createControl({ clock, answers }: ControlOptions) {
  const share = createCoalescer<boolean | ProviderError>();
  let succeededMs = Number.NEGATIVE_INFINITY;
  const noteSuccess = (): void => {
    succeededMs = clock.now();
  };
  const look = async (handle: string, asker: RequestContext): Promise<boolean | ProviderError> => {
    try {
      // Callers cannot abort this read, because other callers may wait for it too. The read has its
      // own timeout.
      const { signal } = new AbortController();
      const isAnswered = await answers(handle, { ...asker, signal });
      if (isAnswered) noteSuccess();
      return isAnswered;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return error;
    }
  };
  return {
    noteSuccess,
    /**
     * Returns the error for an account that was not found: `missing` if the API found any account
     * in the last minute or finds a well-known one now; `throttled` if that request is
     * rate-limited; otherwise `ambiguous`. Concurrent calls share the request.
     */
    explainMiss: async (handle: string, context: ProviderContext): Promise<ProviderError> => {
      const ageMs = clock.now() - succeededMs;
      if (ageMs >= 0 && ageMs <= freshMs) return toAbsenceError(true, context);
      const control = handle.toLowerCase() === controlHandle ? secondHandle : controlHandle;
      const read = share(control, undefined, () => look(control, context));
      return toAbsenceError(await untilAborted(read, context.signal, toAborted), context);
    },
  };
}

const toAborted = () => toProviderError(new HttpFailure('aborted', 'The request was cancelled.'));

function toAbsenceError(outcome: boolean | ProviderError, context: ProviderContext): ProviderError {
  if (outcome === true) return new ProviderError('missing', 'There is no such account.');
  reportThrottle(context, outcome);
  if (outcome !== false && outcome.kind === 'throttled') return outcome;
  const message = 'The source has no such account, or could not search for it.';
  return new ProviderError('ambiguous', message, { cause: outcome || null });
}
