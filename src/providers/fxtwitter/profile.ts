import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import type { Account } from '../../model/account.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import type { Upstream } from '../upstream.ts';
import { shapeAccount } from './account.ts';
import { type Body, readBody, toAnswerFailure, trueStatus } from './body.ts';
import { createControl } from './control.ts';
import { parseUser, type UserPayload } from './payload.ts';

/** Reads the profiles of accounts, and judges by them. Everything throws ProviderError. */
export interface Profiles {
  /**
   * Gives a public account.
   *
   * @throws ProviderError `missing` when it is gone or protected, `ambiguous` when that is not sure
   */
  read(handle: string, context: ProviderContext): Promise<Account>;
  /**
   * Gives the reason why there is no list of an account: `missing` or `ambiguous` by its profile, and
   * `unavailable`, for this account only, where that can be read.
   */
  explainAbsence(handle: string, context: ProviderContext): Promise<ProviderError>;
}

/** What the profiles are read from. */
export interface ProfileOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
}

/** Creates the reads of profiles. They share one control read. */
export function createProfiles({ upstream, clock }: ProfileOptions): Profiles {
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
    answer.is === 'missed' ? control.judge(handle, context) : toUnseen(answer.is);
  return {
    read: async (handle, context) => {
      const answer = await look(handle, context);
      if (answer.is === 'public') return shapeAccount(answer.user);
      throw await explain(answer, handle, context);
    },
    explainAbsence: async (handle, context) => {
      const answer = await look(handle, context);
      return answer.is === 'public' ? toListDown() : explain(answer, handle, context);
    },
  };
}

/** Makes the read of a profile. */
export function askProfile(profiles: Profiles): Ask<'profile'> {
  return async ({ account }, context) => ({
    account: await profiles.read(account.handle, context),
    warnings: [],
  });
}

type Unseen = { readonly is: 'protected' | 'suspended' | 'missed' };
type ProfileAnswer = { readonly is: 'public'; readonly user: UserPayload } | Unseen;

/** Gives the path of an account below which its lists are. */
export function profilePath(handle: string): string {
  return `/2/profile/${encodeURIComponent(handle)}`;
}

async function readProfile(
  upstream: Upstream,
  handle: string,
  context: RequestContext,
): Promise<ProfileAnswer> {
  const answer = await upstream.get(profilePath(handle), context);
  const body = readBody(answer);
  const user = parseUser(body?.user);
  if (answer.status === 200 && user !== null) {
    return user.protected === true ? { is: 'protected' } : { is: 'public', user };
  }
  if (trueStatus(answer, body) !== 404 || !namesNoUser(body)) throw toAnswerFailure(answer, body);
  return { is: body?.reason === 'suspended' ? 'suspended' : 'missed' };
}

/** What a 404 says where the API is not at all (FxTwitter, section 3). */
const unknownRoute = 'Not found';

function namesNoUser(body: Body | null): boolean {
  return typeof body?.message === 'string' && body.message !== unknownRoute && !body.user;
}

function isKnown({ is }: ProfileAnswer): boolean {
  return is === 'public' || is === 'protected';
}

const unseenSentences = {
  protected: 'This account is protected, and protected accounts are not public.',
  suspended: 'This account is suspended.',
} as const;

function toUnseen(is: keyof typeof unseenSentences): ProviderError {
  return new ProviderError('missing', unseenSentences[is]);
}

function toListDown(): ProviderError {
  const message = 'The source has this account, but cannot list this of it at the moment.';
  return new ProviderError('unavailable', message, { isGeneral: false });
}
