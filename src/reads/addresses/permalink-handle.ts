/** Reserved first path segments, which belong to the server and cannot be handles. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

const fileEnding =
  /\.(?:atom|avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|rss|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether a first path segment, in lower case, belongs to the server's own paths. */
export const isReservedName = (segment: string): boolean => reservedName.test(segment);

/** Returns whether the first segment of a path such as `/jack/status/20` can be a handle. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}
