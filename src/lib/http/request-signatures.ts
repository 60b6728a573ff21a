import { createSign, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { HttpAnswer, HttpClient, RequestContext } from './http-client.ts';

/** RSA key that signs requests, and the URL at which a server reads its public key. */
export interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

export type SignatureScheme = 'rfc9421' | 'cavage';

/** Returns the headers that sign a GET request (RFC 9421, draft-cavage-http-signatures-12). */
export function signRequest(
  url: URL,
  { keyId, privateKey }: SigningKey,
  { scheme, nowMs }: { readonly scheme: SignatureScheme; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const sign = (base: string) => createSign('sha256').update(base).sign(privateKey, 'base64');
  if (scheme === 'rfc9421') {
    const covered = `("@method" "@target-uri");created=${Math.floor(nowMs / 1000)};keyid="${keyId}";alg="rsa-v1_5-sha256"`;
    const lines = ['"@method": GET', `"@target-uri": ${url.href}`];
    const base = [...lines, `"@signature-params": ${covered}`].join('\n');
    return { 'signature-input': `sig1=${covered}`, signature: `sig1=:${sign(base)}:` };
  }
  const date = new Date(nowMs).toUTCString();
  const target = `(request-target): get ${url.pathname}${url.search}`;
  const signature = sign([target, `host: ${url.host}`, `date: ${date}`].join('\n'));
  const headers = '(request-target) host date';
  return {
    date,
    signature: `keyId="${keyId}",algorithm="rsa-sha256",headers="${headers}",signature="${signature}"`,
  };
}

const maxHosts = 4096;

const other = { rfc9421: 'cavage', cavage: 'rfc9421' } as const;

/** Statuses with which servers refuse a request whose signature they do not understand. */
const refusals: readonly number[] = [400, 401, 403];

/**
 * Creates a function that signs each request and redirect. A host that refuses the first scheme is
 * asked again with the other one, and from then on with the scheme that it accepted.
 */
export function createSignedGet(
  http: Pick<HttpClient, 'get'>,
  key: SigningKey,
  clock: Clock,
): HttpClient['get'] {
  const schemes = new LRUCache<string, SignatureScheme>({
    maxSize: maxHosts, // `max` would allocate for all entries at once
    sizeCalculation: () => 1,
  });
  const send = (url: URL, context: RequestContext, scheme: SignatureScheme): Promise<HttpAnswer> =>
    http.get(url, {
      ...context,
      headersOf: (hop) => signRequest(hop, key, { scheme, nowMs: clock.now() }),
    });
  return async (url, context) => {
    const scheme = schemes.get(url.host) ?? 'rfc9421';
    const first = await send(url, context, scheme);
    if (!refusals.includes(first.status)) return first;
    const second = await send(url, context, other[scheme]);
    if (!refusals.includes(second.status)) schemes.set(url.host, other[scheme]);
    return second;
  };
}
