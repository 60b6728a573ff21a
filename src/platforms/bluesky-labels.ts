/** Label of an author who asks not to be shown to readers who are not logged in. */
export const signedInOnly = '!no-unauthenticated';

export const hidingLabels: ReadonlySet<string> = new Set([signedInOnly, '!hide', '!takedown']);

export const sensitiveLabels: ReadonlySet<string> = new Set([
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'gore',
]);
