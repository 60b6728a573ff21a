import { createHash } from 'node:crypto';
import type { Headers } from '../../web/headers.ts';
import { type PreparedReply, prepareReply } from '../../web/reply.ts';

/** Nothing but our own files; no script or style within a page; no frame around it (CSP Level 3). */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What a page may not ask a browser for; to copy, it may write to the clipboard. */
const permissionsPolicy = [
  'camera=()',
  'clipboard-read=()',
  'clipboard-write=(self)',
  'display-capture=()',
  'geolocation=()',
  'microphone=()',
  'payment=()',
  'usb=()',
].join(', ');

/** The headers of every HTML page, by lower-case name. */
export const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissionsPolicy,
  'referrer-policy': 'same-origin',
} as const;

/** The media types that pages are sent as. */
export const pageTypes = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  json: 'application/json; charset=utf-8',
} as const;

/** A text of a page, and what is said of it. */
export interface PageText {
  readonly text: string;
  readonly format: keyof typeof pageTypes;
  /** Whether the address answers in other formats too: negotiated ones vary by `Accept`. */
  readonly isNegotiated: boolean;
  /** Headers beside those of every page. */
  readonly headers?: Headers;
}

/** Prepares the reply of a page: its type, its entity tag, a minute of caching, and for HTML its policies. */
export function preparePage({ text, format, isNegotiated, headers = {} }: PageText): PreparedReply {
  const body = Buffer.from(text);
  return prepareReply(
    {
      'content-type': pageTypes[format],
      'content-length': String(body.length),
      etag: toEtag(body),
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      ...(isNegotiated ? { vary: 'Accept' } : {}),
      ...(format === 'html' ? pageHeaders : {}),
      ...headers,
    },
    body,
  );
}

/** Gives the strong entity tag of a body (RFC 9110 §8.8.3). */
export function toEtag(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}
