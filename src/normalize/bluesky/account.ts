import { type Account, toAccount, toWebsite } from '../../model/account.ts';
import { webUrlOrNull } from '../text.ts';
import { toIsoTime } from '../times.ts';
import { toUnavailability, type Unavailability } from '../unavailable.ts';
import { blueskyProfileUrl } from './addresses.ts';
import type { ActorPayload, LabelPayload, PostPayload } from './wire.ts';

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

const signedInOnly = '!no-unauthenticated';

const sensitiveLabels: ReadonlySet<string> = new Set([
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'gore',
]);

/**
 * Reason to hide it. `signed-in`: shown to logged-in users only. `suspended`: the account was
 * removed. `taken-down`: the post was removed. `hidden`: moderators have hidden it.
 */
export type Restriction = 'signed-in' | 'suspended' | 'taken-down' | 'hidden';

export type Assessment = ReturnType<typeof assessPost>;

const warning = 'Bluesky’s moderation requires a warning for this post.';

/** Returns the reason to hide an account, list or other record; `null` if it may be shown. */
export function restrictionOf(
  { labels }: Pick<ActorPayload, 'labels'>,
  nowMs: number,
): Restriction | null {
  return findRestriction(new Set(activeLabels(labels, nowMs).map(({ val }) => val)), 'suspended');
}

/** Returns the reason to hide a post, whether it is sensitive, and the warning to show. */
export function assessPost(post: PostPayload, nowMs: number) {
  const { author, record } = post;
  const own = [...activeLabels(post.labels, nowMs), ...(record.labels?.values ?? [])];
  // A label on the account applies to its posts; a label on the profile record applies only to the
  // profile.
  const inherited = activeLabels(author.labels, nowMs).filter(({ uri }) => uri === author.did);
  const values = new Set([...own, ...inherited].map(({ val }) => val));
  return {
    restriction: restrictionOf(author, nowMs) ?? findRestriction(values, 'taken-down'),
    isSensitive: [...values].some((value) => sensitiveLabels.has(value)),
    warning: values.has('!warn') ? warning : null,
  };
}

function findRestriction(values: ReadonlySet<string>, removed: Restriction): Restriction | null {
  if (values.has(signedInOnly)) return 'signed-in';
  if (values.has('!takedown')) return removed;
  return values.has('!hide') ? 'hidden' : null;
}

function activeLabels(labels: readonly LabelPayload[], nowMs: number): readonly LabelPayload[] {
  return labels.filter(({ neg, exp }) => {
    const endMs = exp === null ? Number.NaN : Date.parse(exp);
    return neg !== true && !(endMs <= nowMs);
  });
}

/** Descriptive label, such as `spam`, but none that instructs apps, such as `!hide`. */
const labelForm = /^[a-z][a-z-]{0,99}$/;

export function describeLabels({ labels }: ActorPayload, nowMs: number): readonly string[] {
  const values = [...new Set(activeLabels(labels, nowMs).map(({ val }) => val))];
  const named = values.filter((value) => labelForm.test(value)).sort();
  return [
    ...(values.includes('!warn') ? [accountWarning] : []),
    ...(named.length === 0 ? [] : [`This account is labelled on Bluesky: ${named.join(', ')}.`]),
  ];
}

const accountWarning = 'Bluesky’s moderation requires a warning for this account.';

export const hiddenPosts: Readonly<Record<Restriction, Unavailability>> = {
  'signed-in': toUnavailability(
    'protected',
    'This post is not shown, because its author asks not to be shown to people who are not signed in to Bluesky.',
  ),
  suspended: toUnavailability('suspended'),
  'taken-down': toUnavailability('unknown', 'This post was taken down by Bluesky’s moderation.'),
  hidden: toUnavailability('unknown', 'This post is hidden by Bluesky’s moderation.'),
};
