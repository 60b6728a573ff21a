import { type AuthorizationSource, readBearer } from '../../access/keys/authorization.ts';
import { createMark } from './tokens.ts';

/** Who asks: the keyed hash of the bearer, or null for the anonymous caller. */
export type Owner = string | null;

/**
 * Gives the owner mark of a request. Any bearer that is not empty has one; another scheme, an empty
 * token and no header at all are the anonymous caller.
 */
export function readOwner(request: AuthorizationSource, secret: Buffer): Owner {
  const bearer = readBearer(request);
  return bearer === null || bearer === '' ? null : createMark(secret, 'owner', bearer);
}
