import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';

/**
 * Matches JSON media types. Browsers send a CORS preflight before they send bodies of these types to another origin.
 */
export const jsonMediaTypes =
  /^\s*(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)\s*(?:;|$)/i;

/** Checks that a request body's `Content-Type` is JSON. @throws Problem `unsupported_media_type` for other types */
export function refuseOtherMediaTypes(
  { 'content-type': type, 'content-length': length = '0' }: IncomingHttpHeaders,
  hasBody = Number(length) > 0,
): void {
  if (type === undefined ? !hasBody : jsonMediaTypes.test(type)) return;
  const fault = type === undefined ? 'is missing' : `is ${quoteInput(type)}`;
  throw new Problem('unsupported_media_type', {
    detail: `The header \`Content-Type\` ${fault}. It must be \`application/json\`.`,
  });
}
