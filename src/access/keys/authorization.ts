import { Problem } from '../../lib/problem.ts';

export interface AuthorizationSource {
  readonly headers: { readonly authorization?: string | undefined };
  /** Names and values of the request's headers as received, in alternation. */
  readonly rawHeaders: readonly string[];
}

const maxBytes = 4096;

/** Pattern of the scheme `Bearer`, which is case-insensitive (RFC 9110 §11.1). */
const bearer = /^bearer(?:[ \t]+|$)/i;

/** Returns the key, possibly empty; `null` without a `Bearer` (docs/contract/reads.md#keys). */
export function readBearer({ headers: { authorization } }: AuthorizationSource): string | null {
  if (authorization === undefined) return null;
  const [scheme] = bearer.exec(authorization) ?? [];
  return scheme === undefined ? null : authorization.slice(scheme.length).trim();
}

/** Returns whether any `Authorization` header uses `Bearer`, also those that `headers` omits. */
export function presentsBearer({ rawHeaders }: AuthorizationSource): boolean {
  return valuesOf(rawHeaders).some((value) => bearer.test(value));
}

/** Returns a problem for multiple `Authorization` headers or an oversized one; otherwise `null`. */
export function authorizationFault({
  headers: { authorization },
  rawHeaders,
}: AuthorizationSource): Problem | null {
  if (authorization === undefined) return null;
  if (valuesOf(rawHeaders).length > 1) {
    const detail = 'The header `Authorization` is sent more than once. Send it once.';
    return new Problem('invalid_option', { detail });
  }
  if (Buffer.byteLength(authorization, 'latin1') <= maxBytes) return null;
  const detail = `The header \`Authorization\` is longer than ${maxBytes} bytes. Send \`Bearer\` and a key.`;
  return new Problem('invalid_option', { detail });
}

function valuesOf(rawHeaders: readonly string[]): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
