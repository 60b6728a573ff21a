import type { Restriction } from '../../platforms/bluesky/labels.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { describeOmitted, describeUnread, type Rows } from '../rows.ts';

const accountSentences: Readonly<Record<Restriction, string>> = {
  'signed-in': 'This account asks not to be shown to people who are not signed in to Bluesky.',
  suspended: 'Bluesky has suspended this account.',
  'taken-down': 'Bluesky has suspended this account.',
  hidden: 'Bluesky’s moderation hides this account.',
};

export const toRestrictedError = (restriction: Restriction): ProviderError =>
  new ProviderError('missing', accountSentences[restriction]);

const signedIn = 'not to be shown to people who are not signed in';

const omissions = {
  post: [`its author asks ${signedIn}`, `their authors ask ${signedIn}`],
  account: [`it asks ${signedIn}`, `they ask ${signedIn}`],
} as const;

/** Returns one warning, with a number, for each reason why posts or accounts are missing. */
export function describeHidden(
  restrictions: readonly (Restriction | null)[],
  unread: Pick<Rows<unknown>, 'unreadable' | 'excess'>,
  noun: keyof typeof omissions,
): readonly string[] {
  const omitted = restrictions.filter((restriction) => restriction !== null);
  const privates = omitted.filter((restriction) => restriction === 'signed-in').length;
  const hides = 'Bluesky’s moderation hides';
  return [
    ...describeOmitted(privates, noun, omissions[noun]),
    ...describeOmitted(omitted.length - privates, noun, [`${hides} it`, `${hides} them`]),
    ...describeUnread(unread, noun),
  ];
}
