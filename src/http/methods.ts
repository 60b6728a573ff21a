import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../core/problem.ts';
import { isPreflight } from './cors.ts';
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
  /** Gives the headers of every reply of the route; default: none of its own. */
  readonly describe?: (request: FastifyRequest) => Readonly<Record<string, string>>;
}

/**
 * Answers the methods that a path does not have with 405 and `Allow` (RFC 9110 §15.5.6), and a browser
 * that asks whether it may use one it has with 204; what it may do is said by `setCors`.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  { allow, isRoute = () => true, describe = () => ({}) }: AllowedMethods,
): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isRoute(request)) throw routeNotFound(request);
    if (isPreflight(request)) return answerPreflight(reply, describe(request));
    throw new Problem('method_not_allowed', {
      detail: `This route answers ${allow.join(' and ')}.`,
      allow,
    });
  };
  const method = app.supportedMethods.filter((name) => !allow.includes(name));
  // Refused on arrival, before a body is read that nobody wants.
  app.route({ method, url, config: { describe }, onRequest: refuse, handler: refuse });
}

function answerPreflight(reply: FastifyReply, headers: Readonly<Record<string, string>>) {
  const { vary: _vary, ...others } = headers; // the answer depends on what is asked for alone
  return reply
    .code(204)
    .headers({ ...others, 'x-request-id': reply.request.id, 'x-content-type-options': 'nosniff' })
    .send();
}
