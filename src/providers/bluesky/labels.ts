import type { Tombstone } from '../../model/post.ts';
import { sensitiveLabels, signedInOnly } from '../../platforms/bluesky-labels.ts';
import { missingSentences } from '../../platforms/missing.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { ActorPayload, LabelPayload, PostPayload } from './payload.ts';

/**
 * Why something is not served. `signed-in`: its author keeps it from readers who are not signed in.
 * `suspended` and `taken-down`: the account, or the post, was removed. `hidden`: by moderation.
 */
export type Withheld = 'signed-in' | 'suspended' | 'taken-down' | 'hidden';

/** What the labels of a post say of it. */
export interface PostVerdict {
  /** Null where it may be shown. */
  readonly withheld: Withheld | null;
  readonly isSensitive: boolean;
  readonly warning: string | null;
}

const warning = 'Bluesky’s moderation shows a warning before this post.';

/** Tells why an account, or another record with labels, is not served; null where it may be. */
export function judgeAccount(
  { labels }: Pick<ActorPayload, 'labels'>,
  nowMs: number,
): Withheld | null {
  const values = new Set(inForce(labels, nowMs).map(({ val }) => val));
  if (values.has(signedInOnly)) return 'signed-in';
  if (values.has('!takedown')) return 'suspended';
  return values.has('!hide') ? 'hidden' : null;
}

/** Gives what the labels of a post, those that it labels itself with and its author's say of it. */
export function judgePost(post: PostPayload, nowMs: number): PostVerdict {
  const { author, record } = post;
  const own = [...inForce(post.labels, nowMs), ...(record.labels?.values ?? [])];
  // A label on the account speaks for its posts, one on its profile for the profile alone.
  const inherited = inForce(author.labels, nowMs).filter(({ uri }) => uri === author.did);
  const values = new Set([...own, ...inherited].map(({ val }) => val));
  return {
    withheld: judgeAccount(author, nowMs) ?? withheldBy(values),
    isSensitive: [...values].some((value) => sensitiveLabels.has(value)),
    warning: values.has('!warn') ? warning : null,
  };
}

function withheldBy(values: ReadonlySet<string>): Withheld | null {
  if (values.has(signedInOnly)) return 'signed-in';
  if (values.has('!takedown')) return 'taken-down';
  return values.has('!hide') ? 'hidden' : null;
}

/** A label that is taken back, or past its time, says nothing; one with an unreadable time still does. */
function inForce(labels: readonly LabelPayload[], nowMs: number): readonly LabelPayload[] {
  return labels.filter(({ neg, exp }) => {
    const endMs = exp === null ? Number.NaN : Date.parse(exp);
    return neg !== true && !(endMs <= nowMs);
  });
}

/** The form of a label; those with a sign before them are commands (Bluesky, section 4). */
const labelForm = /^[a-z][a-z-]{0,99}$/;

/** Says what the labels of an account, which may be shown, say of it. */
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

/** Gives the failure to read an account, or one of its lists, that is not served. */
export function refuseAccount(withheld: Withheld): ProviderError {
  return new ProviderError('missing', accountSentences[withheld]);
}

/** What is told of a post that is not served. */
export const withheldPosts: Readonly<
  Record<Withheld, Pick<Tombstone, 'reason'> & { readonly sentence: string }>
> = {
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
