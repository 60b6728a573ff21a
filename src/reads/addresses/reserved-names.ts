/** First path segments that the service keeps for itself, so that they are no handles there. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

/** Endings of files that clients ask for by themselves, such as `/favicon.ico`. */
const fileEnding =
  /\.(?:avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether the service keeps a first path segment, in lower case, for itself. */
export function isReservedName(segment: string): boolean {
  return reservedName.test(segment);
}

/** Returns whether a first path segment can be a handle on the permalink surface. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}
