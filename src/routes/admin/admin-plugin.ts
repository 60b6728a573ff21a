import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { jsonMediaTypes, parseJsonBody } from '../../lib/http/json-bodies.ts';
import type { Origins } from '../../lib/http/origins.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import { disableCompression } from '../../web/compression.ts';
import { rejectOtherOrigins } from '../../web/cors.ts';
import { declareRoutes, refuseAll, serveRoutes } from '../../web/route.ts';
import { type ConnectionOptions, registerConnection } from './connection.ts';
import type { AdminGuard } from './guard.ts';
import { type AdminKeysOptions, registerKeys, sendJson } from './keys.ts';

interface AdminOptions extends AdminKeysOptions, ConnectionOptions {
  readonly guard: AdminGuard;
  readonly origins: Origins;
  readonly describe: () => JsonSchema;
}

/** Registers the admin API. All paths under `/api/admin` require the admin token. */
export async function adminPlugin(app: FastifyInstance, options: AdminOptions) {
  rejectOtherOrigins(app, options.origins);
  disableCompression(app);
  app.addHook('onRequest', options.guard.requireToken);
  readJsonBodies(app);
  registerKeys(app, options);
  registerConnection(app, options);
  serveRoutes(app, adminDescriptionRoutes, {
    getAdminOpenApi: (_request, reply) => sendJson(reply, options.describe()),
  });
  for (const url of ['/api/admin', '/api/admin/*']) refuseAll(app, url);
}

function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    jsonMediaTypes,
    { parseAs: 'buffer', bodyLimit: 16_384 },
    async (_request: unknown, body: Buffer) =>
      body.length === 0 ? undefined : parseJsonBody(body),
  );
}

export const adminDescriptionRoutes = declareRoutes(
  { method: 'GET', tag: 'operator', access: 'operator', problems: [] },
  {
    getAdminOpenApi: {
      path: '/api/admin/openapi.json',
      title: 'Get the OpenAPI description of the admin API',
      summary: 'Describes the routes for the operator (OpenAPI 3.1).',
      replies: [
        {
          status: 200,
          description: 'The description.',
          content: {
            'application/json': z.object({ openapi: z.string() }).meta({ id: 'AdminOpenApi' }),
          },
        },
      ],
    },
  },
);
