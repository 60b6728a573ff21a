import type { Tombstone } from '../../model/post.ts';
import { sensitiveLabels, signedInOnly } from '../../platforms/bluesky-labels.ts';
import { missingSentences } from '../../platforms/missing.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { type Rows, tellOmitted, tellUnread } from '../rows.ts';
import type { ActorPayload, LabelPayload, PostPayload } from './payload.ts';

/** Why something is not served: for those signed in, removed, or hidden by moderation. */
export type Withheld = 'signed-in' | 'suspended' | 'taken-down' | 'hidden';

export type PostVerdict = ReturnType<typeof judgePost>;

const warning = 'Bluesky’s moderation shows a warning before this post.';

/** Returns why an account, or another record with labels, is not served; `null` if it is. */
export function judgeAccount(
  { labels }: Pick<ActorPayload, 'labels'>,
  nowMs: number,
): Withheld | null {
  const values = new Set(inForce(labels, nowMs).map(({ val }) => val));
  return withheldBy(values, 'suspended');
}

/** Judges a post by its labels, those of its author and those that it has put on itself. */
export function judgePost(post: PostPayload, nowMs: number) {
  const { author, record } = post;
  const own = [...inForce(post.labels, nowMs), ...(record.labels?.values ?? [])];
  // A label on the account holds for its posts, one on its profile for the profile alone.
  const inherited = inForce(author.labels, nowMs).filter(({ uri }) => uri === author.did);
  const values = new Set([...own, ...inherited].map(({ val }) => val));
  return {
    withheld: judgeAccount(author, nowMs) ?? withheldBy(values, 'taken-down'),
    isSensitive: [...values].some((value) => sensitiveLabels.has(value)),
    warning: values.has('!warn') ? warning : null,
  };
}

function withheldBy(values: ReadonlySet<string>, removed: Withheld): Withheld | null {
  if (values.has(signedInOnly)) return 'signed-in';
  if (values.has('!takedown')) return removed;
  return values.has('!hide') ? 'hidden' : null;
}

/** Leaves out labels that were taken back or have expired. One with an unreadable time is in force. */
function inForce(labels: readonly LabelPayload[], nowMs: number): readonly LabelPayload[] {
  return labels.filter(({ neg, exp }) => {
    const endMs = exp === null ? Number.NaN : Date.parse(exp);
    return neg !== true && !(endMs <= nowMs);
  });
}

/** The form of a label. Those that begin with a sign are commands. */
const labelForm = /^[a-z][a-z-]{0,99}$/;

export function tellLabels({ labels }: ActorPayload, nowMs: number): readonly string[] {
  const values = [...new Set(inForce(labels, nowMs).map(({ val }) => val))];
  const told = values.filter((value) => labelForm.test(value)).sort();
  return [
    ...(values.includes('!warn') ? [accountWarning] : []),
    ...(told.length === 0 ? [] : [`This account is labelled on Bluesky: ${told.join(', ')}.`]),
  ];
}

const accountWarning = 'Bluesky’s moderation shows a warning before this account.';

const accountSentences: Readonly<Record<Withheld, string>> = {
  'signed-in': 'This account asks not to be shown to people who are not signed in to Bluesky.',
  suspended: 'Bluesky has suspended this account.',
  'taken-down': 'Bluesky has suspended this account.',
  hidden: 'Bluesky’s moderation hides this account.',
};

export function refuseAccount(withheld: Withheld): ProviderError {
  return new ProviderError('missing', accountSentences[withheld]);
}

export interface Told extends Pick<Tombstone, 'reason'> {
  readonly sentence: string;
}

export const withheldPosts: Readonly<Record<Withheld, Told>> = {
  'signed-in': {
    reason: 'private',
    sentence:
      'This post is not shown, because its author asks not to be shown to people who are not signed in to Bluesky.',
  },
  suspended: { reason: 'suspended', sentence: missingSentences.suspended },
  'taken-down': {
    reason: 'unavailable',
    sentence: 'This post was taken down by Bluesky’s moderation.',
  },
  hidden: { reason: 'unavailable', sentence: 'This post is hidden by Bluesky’s moderation.' },
};

const signedIn = 'not to be shown to people who are not signed in';

const omissions = {
  post: [`its author asks ${signedIn}`, `their authors ask ${signedIn}`],
  account: [`it asks ${signedIn}`, `they ask ${signedIn}`],
} as const;

export function tellWithheld(
  verdicts: readonly (Withheld | null)[],
  unread: Pick<Rows<unknown>, 'unreadable' | 'beyond'>,
  noun: keyof typeof omissions,
): readonly string[] {
  const withheld = verdicts.filter((verdict) => verdict !== null);
  const privates = withheld.filter((verdict) => verdict === 'signed-in').length;
  const hides = 'Bluesky’s moderation hides';
  return [
    ...tellOmitted(privates, noun, omissions[noun]),
    ...tellOmitted(withheld.length - privates, noun, [`${hides} it`, `${hides} them`]),
    ...tellUnread(unread, noun),
  ];
}
