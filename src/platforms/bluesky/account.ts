import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { webUrlOrNull } from '../text.ts';
import { toIsoTime } from '../times.ts';
import { blueskyProfileUrl } from './addresses.ts';
import type { ActorPayload } from './payload.ts';

const handleForm = /^[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+$/;

/** Returns the handle of an account, or its DID if the handle is not valid. */
export const nameOf = ({ did, handle }: Pick<ActorPayload, 'did' | 'handle'>): string =>
  handle === 'handle.invalid' || !handleForm.test(handle) ? did : handle;

export function shapeAccount(actor: ActorPayload): Account {
  const screenName = nameOf(actor);
  return toAccount({
    id: actor.did,
    screen_name: screenName,
    name: actor.displayName?.trim() || screenName,
    url: blueskyProfileUrl(screenName),
    description: actor.description,
    avatar_url: webUrlOrNull(actor.avatar),
    banner_url: webUrlOrNull(actor.banner),
    website: toWebsite(webUrlOrNull(actor.website)),
    followers: actor.followersCount,
    following: actor.followsCount,
    statuses: actor.postsCount,
    joined: toIsoTime(actor.createdAt),
    verification: { verified: isVerified(actor), type: null },
    platform: 'bluesky',
  });
}

function isVerified({ verification }: ActorPayload): boolean {
  return (
    verification?.verifiedStatus === 'valid' || verification?.trustedVerifierStatus === 'valid'
  );
}
