import type { AccountReference } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { shapeAccount } from './account.ts';
import { judgeAccount, refuseAccount, tellLabels } from './labels.ts';
import { type ActorPayload, parseActor } from './payload.ts';
import type { Reading } from './reading.ts';

/** Makes the read of an account. */
export function askProfile(reading: Reading): Ask<'profile'> {
  return async ({ account }, context) => {
    const profile = await readProfile(reading, account, context);
    return {
      account: shapeAccount(profile),
      warnings: tellLabels(profile, reading.clock.now()),
    };
  };
}

/** @throws ProviderError `missing` also for an account that is for those who are signed in */
async function readProfile(
  { client, known, clock }: Reading,
  { handle }: AccountReference,
  context: ProviderContext,
): Promise<ActorPayload> {
  const actor = known.actorFor(handle);
  const profile = parseActor(await client.query('app.bsky.actor.getProfile', { actor }, context));
  if (profile === null) throw createMalformed();
  const withheld = judgeAccount(profile, clock.now());
  if (withheld !== null) throw refuseAccount(withheld);
  known.note(handle, profile);
  return profile;
}

/**
 * Looks at the profile of an account of which a list says nothing, or that there is none: an empty list
 * is that of a quiet account, of one that is suspended, or of one that is not for the public.
 *
 * @throws ProviderError `missing` where the profile tells why; `throttled` is passed on, any other
 *   failure of this second look is not
 */
export async function explainAbsence(
  reading: Reading,
  account: AccountReference,
  context: ProviderContext,
): Promise<void> {
  try {
    await readProfile(reading, account, context);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'missing') throw error;
    if (error.kind === 'throttled') context.onThrottled?.(error);
  }
}
