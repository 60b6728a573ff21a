/** Bluesky label of authors who ask to be visible only to logged-in users. */
export const signedInOnly = '!no-unauthenticated';

export const hidingLabels: ReadonlySet<string> = new Set([signedInOnly, '!hide', '!takedown']);

export const sensitiveLabels: ReadonlySet<string> = new Set([
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'gore',
]);
