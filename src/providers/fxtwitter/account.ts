import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { profileUrl } from '../../model/reference.ts';
import { toIsoTime } from '../../platforms/times.ts';
import { enlargeAvatar } from '../../platforms/x.ts';
import type { UserPayload } from './payload.ts';

/**
 * Gives the account that a payload describes; what it does not tell is null. Of a protected account
 * no more is told than that it is there.
 */
export function shapeAccount(user: UserPayload): Account {
  if (user.protected === true) return shapeProtected(user);
  return {
    id: user.id,
    screen_name: user.screen_name,
    name: user.name ?? user.screen_name,
    url: profileUrl('x', user.screen_name, ''),
    description: user.description,
    location: user.location,
    avatar_url: enlargeAvatar(user.avatar_url),
    banner_url: user.banner_url,
    website: toWebsite(user.website?.url ?? null, user.website?.display_url),
    followers: user.followers,
    following: user.following,
    statuses: user.statuses,
    media_count: user.media_count,
    likes: user.likes,
    joined: toIsoTime(user.joined),
    protected: false,
    verification: {
      verified: user.verification?.verified ?? false,
      type: user.verification?.type ?? null,
    },
    platform: 'x',
  };
}

function shapeProtected({ id, screen_name }: UserPayload): Account {
  const url = profileUrl('x', screen_name, '');
  return toAccount({ id, screen_name, name: screen_name, url, protected: true, platform: 'x' });
}
