import { Problem } from '../../core/problem.ts';
import { keyLength } from './key.ts';

/** The part of a request that says who asks. */
export interface AuthorizationSource {
  readonly headers: { readonly authorization?: string | undefined };
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** The most bytes of an `Authorization` header. */
const maxBytes = 4096;

const usual = 'Bearer ';
const usualLength = usual.length + keyLength;

/** RFC 9110 §11.1: the scheme is compared without regard to case. */
const bearer = /^bearer(?:[ \t]+|$)/i;

/**
 * Returns the value that was presented as a bearer key, which may be empty or of any shape; `null` without
 * one. Other schemes are ignored (`docs/contract/reads.md#keys`).
 */
export function readBearer({ headers: { authorization } }: AuthorizationSource): string | null {
  if (authorization === undefined) return null;
  // A key as it should be is taken without a look for other forms: every keyed hit comes by here.
  if (authorization.length === usualLength && authorization.startsWith(usual)) {
    return authorization.slice(usual.length);
  }
  if (!bearer.test(authorization)) return null;
  return authorization.replace(bearer, '').trim();
}

/** Tells whether any `Authorization` of a request presents a key; of several, Node gives the first alone. */
export function presentsBearer({ rawHeaders }: AuthorizationSource): boolean {
  return valuesOf(rawHeaders).some((value) => bearer.test(value));
}

/** Gives the problem of a request whose `Authorization` cannot be told; null for any other. */
export function authorizationFault({
  headers: { authorization },
  rawHeaders,
}: AuthorizationSource): Problem | null {
  if (authorization === undefined) return null;
  if (valuesOf(rawHeaders).length > 1) {
    return new Problem('invalid_option', {
      detail: 'The header `Authorization` is given more than once; it takes one value.',
    });
  }
  if (Buffer.byteLength(authorization, 'latin1') <= maxBytes) return null;
  return new Problem('invalid_option', {
    detail: `The header \`Authorization\` is over ${maxBytes} bytes; it takes \`Bearer\` and a key.`,
  });
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
