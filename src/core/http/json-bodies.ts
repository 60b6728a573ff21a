import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';

/** Media types of request bodies. Pages of other origins cannot send them without a preflight, unlike forms. */
export const jsonMediaTypes =
  /^\s*(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)\s*(?:;|$)/i;

/**
 * Refuses a body of another media type, or of none.
 *
 * @throws Problem `unsupported_media_type`
 */
export function refuseOtherMediaTypes(
  { 'content-type': type, 'content-length': length = '0' }: IncomingHttpHeaders,
  hasBody = Number(length) > 0,
): void {
  if (type === undefined ? !hasBody : jsonMediaTypes.test(type)) return;
  const fault = type === undefined ? 'is missing' : `is ${quoteInput(type)}`;
  throw new Problem('unsupported_media_type', {
    detail: `The header \`Content-Type\` ${fault}; it takes \`application/json\`.`,
  });
}
