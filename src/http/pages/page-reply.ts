import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../core/http/query.ts';
import { Problem } from '../../core/problem.ts';
import type { Headers } from '../../web/headers.ts';
import { type PreparedReply, prepareReply } from '../../web/reply.ts';
import { maxQueryLength } from './layout.ts';

/** Pages load only our own files, have no inline script or style, and cannot be framed (CSP Level 3). */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Pages may write to the clipboard, for their copy buttons, and nothing else. */
const permissionsPolicy =
  'camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()';

export const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissionsPolicy,
  'referrer-policy': 'same-origin',
} as const;

const negotiated = { vary: 'Accept' } as const;
const markdown = { 'content-type': 'text/markdown; charset=utf-8' } as const;

/** Headers of pages by format; `source` is Markdown at an address that has no other format. */
const formatHeaders = {
  html: { ...htmlHeaders, ...negotiated },
  markdown: { ...markdown, ...negotiated },
  json: { 'content-type': 'application/json; charset=utf-8', ...negotiated },
  source: markdown,
} as const;

/** Prepares the reply of a page, which caches may keep for a minute. */
export function preparePage(
  text: string,
  format: keyof typeof formatHeaders,
  headers: Headers = {},
): PreparedReply {
  const caching = { 'cache-control': 'public, max-age=60, stale-while-revalidate=300' };
  return prepareBody(text, { ...caching, ...formatHeaders[format], ...headers });
}

/** Prepares a body with its length and its strong entity tag (RFC 9110 §8.8.3), a hash of the body. */
export function prepareBody(content: string | Buffer, headers: Headers): PreparedReply {
  const body = Buffer.from(content);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  return prepareReply(
    { ...headers, 'content-length': String(body.length), etag: `"${hash}"` },
    body,
  );
}

/** Returns `q` trimmed, without control characters. Throws `invalid_option` if it is repeated, `invalid_query` if too long. */
export function readText({ raw }: FastifyRequest): string {
  const { q = '' } = parseQuery(raw.url ?? '');
  if (Array.isArray(q)) {
    throw new Problem('invalid_option', {
      detail: 'The parameter `q` is given more than once; it takes one value.',
    });
  }
  const text = q.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (text.length <= maxQueryLength) return text;
  throw new Problem('invalid_query', {
    detail: `The parameter \`q\` has ${text.length} characters; it takes at most ${maxQueryLength}.`,
  });
}
