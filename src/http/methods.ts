import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../core/problem.ts';
import { routeNotFound } from './errors.ts';

/** Makes the router know every method that Node can parse, so that each gets a 405 where it is due. */
export function acceptAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

/** What a path answers. */
export interface AllowedMethods {
  readonly allow: readonly string[];
  /** Tells whether a request is for this route at all; default: it is. */
  readonly isRoute?: (request: FastifyRequest) => boolean;
}

/** Answers the methods that a path does not have with 405 and `Allow` (RFC 9110 §15.5.6). */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  { allow, isRoute = () => true }: AllowedMethods,
): void {
  const refuse = async (request: FastifyRequest) => {
    if (!isRoute(request)) throw routeNotFound(request);
    throw new Problem('method_not_allowed', {
      detail: `This route answers ${allow.join(' and ')}.`,
      allow,
    });
  };
  const method = app.supportedMethods.filter((name) => !allow.includes(name));
  // Refused on arrival, before a body is read that nobody wants.
  app.route({ method, url, onRequest: refuse, handler: refuse });
}
