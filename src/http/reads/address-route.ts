import type { FastifyRequest } from 'fastify';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import {
  type AddressedRead,
  type AddressPlace,
  readAddress,
  wholeUrlIn,
} from '../../reads/addresses/address.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { routeNotFound } from '../../web/errors.ts';
import type { Answering, AskedRead, ReadRoutesOptions } from './read-routes.ts';
import { createRouteHeaders, type RouteHeaders } from './route-headers.ts';
import { findVersioned } from './routes.ts';

/**
 * The paths that are a whole URL, in the router's notation: as it is, also with merged slashes, and
 * percent-encoded as one segment.
 */
export const addressPaths = ['/https::/*', '/http::/*', '/:address(^https?:.+$)'] as const;

/** Creates the answers to whole URLs: each is that of the read which the URL stands for. */
export function createAddressAnswering(options: ReadRoutesOptions): Answering {
  return {
    headers: createAddressHeaders(options),
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

/** Keys and allowances are those of the read; a URL that stands for none is treated as that of a post. */
function createAddressHeaders({ identification, context }: ReadRoutesOptions): RouteHeaders {
  const { baseUrl } = context;
  // The keys of the table are its reads.
  const all = new Map(
    (Object.keys(reads) as ReadId[]).map((read) => [
      read,
      createRouteHeaders(findVersioned(read), { identification, baseUrl }),
    ]),
  );
  const headersOf = (request: FastifyRequest): RouteHeaders => {
    const headers = all.get(readIdOf(request, context));
    if (headers === undefined) throw new Error('A read has no headers.');
    return headers;
  };
  return {
    identityOf: (request) => headersOf(request).identityOf(request),
    waitingOf: (request) => headersOf(request).waitingOf(request),
    ownOf: (request) => headersOf(request).ownOf(request),
    describe: (request) => headersOf(request).describe(request),
  };
}

function readIdOf(request: FastifyRequest, place: AddressPlace): ReadId {
  try {
    return readAddressOf(request, place).read;
  } catch {
    return 'getPost'; // The handler throws the same, and answers with it.
  }
}
