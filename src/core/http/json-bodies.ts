import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';

/**
 * The media types that a request body may have: `application/json` and `…+json`, with any parameters. Pages of
 * other origins cannot send them without asking first, as they can the types of forms.
 */
export const jsonMediaTypes =
  /^\s*(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)\s*(?:;|$)/i;

/**
 * Refuses a body of another media type, or of none. A request without a body needs no type.
 *
 * @param hasBody Default: what `Content-Length` says.
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
