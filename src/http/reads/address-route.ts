import type { FastifyRequest } from 'fastify';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import {
  type AddressedRead,
  type AddressPlace,
  readAddress,
  wholeUrlIn,
} from '../../reads/addresses/address.ts';
import type { ReadId } from '../../reads/index.ts';
import { routeNotFound } from '../../web/errors.ts';
import type { Answering, AskedRead, ReadRoutesOptions } from './read-routes.ts';
import { findVersioned, surfaceOf } from './routes.ts';

/** Router paths of whole URLs: as they are, with merged slashes, and percent-encoded as one segment. */
export const addressPaths = ['/https::/*', '/http::/*', '/:address(^https?:.+$)'] as const;

/** Creates the answers to whole URLs: each is that of the read which the URL stands for. */
export function createAddressAnswering(options: ReadRoutesOptions): Answering {
  return {
    // The allowance is that of the read; a URL that stands for none is treated as that of a post.
    config: {
      allowance: (request) => surfaceOf(findVersioned(readIdOf(request, options.context))),
    },
    isRoute: () => true,
    // The short paths have them.
    hasPreviews: false,
    toAsked: (request) => toAsked(request, options.context),
  };
}

/** @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` */
function toAsked(request: FastifyRequest, place: AddressPlace): AskedRead {
  const { read, given } = readAddressOf(request, place);
  return { read, given: joinParameters(parseQuery(request.raw.url ?? ''), given) };
}

function readAddressOf(request: FastifyRequest, place: AddressPlace): AddressedRead {
  const url = wholeUrlIn(request.raw.url ?? '');
  if (url === null) throw routeNotFound(request);
  return readAddress(url, place, 'The address in the path');
}

function readIdOf(request: FastifyRequest, place: AddressPlace): ReadId {
  try {
    return readAddressOf(request, place).read;
  } catch {
    return 'getPost'; // The handler throws the same, and answers with it.
  }
}
