import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import * as z from 'zod';
import type { Client } from '../../lib/caller.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import { privateCaching } from '../headers.ts';
import { declareRoutes, serveRoutes } from '../route.ts';

const connectionReport = z
  .object({
    peer: z
      .string()
      .nullable()
      .describe('IP address from which the connection came; null if unknown.'),
    is_trusted_proxy: z
      .boolean()
      .describe('Whether the setting `PERCH_TRUST_PROXY` contains the address `peer`.'),
    forwarding_headers: z
      .array(z.string())
      .readonly()
      .describe(
        'Names of the headers in the request in which a proxy reports the client’s address. New names may be added.',
      ),
  })
  .meta({ id: 'ConnectionReport' });

/** Data about a request's connection, for operators who check a proxy configuration. */
export type ConnectionReport = z.output<typeof connectionReport>;

export const parseConnectionReport = (body: unknown): ConnectionReport | null =>
  connectionReport.safeParse(body).data ?? null;

const known = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip'];

/** Returns the names of those request headers in which a proxy reports the client's address. */
export const forwardingHeaders = (headers: IncomingHttpHeaders): readonly string[] =>
  known.filter((name) => headers[name] !== undefined);

export interface ConnectionOptions {
  /** Returns the client that opened a connection; `null` for a connection of a trusted proxy. */
  readonly connectionOf: (socket: { readonly remoteAddress?: string | undefined }) => Client | null;
}

/** Registers the route for `perch doctor`. `app` must be a scope that requires the admin token. */
export function registerConnection(
  app: FastifyInstance,
  { connectionOf }: ConnectionOptions,
): void {
  serveRoutes(app, connectionRoutes, {
    getConnection: ({ raw }, reply) => {
      const report: ConnectionReport = {
        peer: raw.socket.remoteAddress ?? null,
        is_trusted_proxy: connectionOf(raw.socket) === null,
        forwarding_headers: forwardingHeaders(raw.headers),
      };
      return sendJson(reply, report);
    },
  });
}

export const connectionRoutes = declareRoutes(
  { method: 'GET', tag: 'operator', access: 'operator', problems: [] },
  {
    getConnection: {
      path: '/api/admin/connection',
      title: 'Get the address of the caller',
      summary: 'Returns the address and the proxy headers of this request.',
      description:
        '`perch doctor` sends this request through the base URL to check `PERCH_TRUST_PROXY`.',
      replies: [
        {
          status: 200,
          description: 'The connection of this request.',
          content: { 'application/json': connectionReport },
        },
      ],
    },
  },
);

/** Sends a JSON body with headers that forbid caching. */
export function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  reply.headers({
    'cache-control': privateCaching,
    'content-type': 'application/json; charset=utf-8',
  });
  return reply.send(toJsonBody(body));
}
