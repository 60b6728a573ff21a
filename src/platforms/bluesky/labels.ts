/** Bluesky label of authors who want only logged-in users to see their posts. */
export const signedInOnly = '!no-unauthenticated';

export const hidingLabels: ReadonlySet<string> = new Set([signedInOnly, '!hide', '!takedown']);

export const sensitiveLabels: ReadonlySet<string> = new Set([
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'gore',
]);
