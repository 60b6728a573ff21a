/** The label by which an author of Bluesky asks not to be shown to readers who are not logged in. */
export const signedInOnly = '!no-unauthenticated';

/** The labels that take something out of sight. */
export const hidingLabels: ReadonlySet<string> = new Set([signedInOnly, '!hide', '!takedown']);

/** The labels that mark a post as sensitive. */
export const sensitiveLabels: ReadonlySet<string> = new Set([
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'gore',
]);
