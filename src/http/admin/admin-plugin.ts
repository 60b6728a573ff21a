import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Endpoint } from '../../core/endpoint.ts';
import { jsonMediaTypes, parseJsonBody } from '../../core/http/json-bodies.ts';
import type { Origins } from '../../core/http/origins.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import { disableCompression } from '../../web/compression.ts';
import { rejectOtherOrigins } from '../../web/cors.ts';
import { refuseAll, refuseOtherMethods } from '../../web/methods.ts';
import { type ConnectionOptions, registerConnection } from './connection.ts';
import type { AdminGuard } from './guard.ts';
import { type AdminKeysOptions, registerKeys, sendJson } from './keys.ts';

const descriptionPath = '/api/admin/openapi.json';

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
  app.get(descriptionPath, async (_request, reply) => sendJson(reply, options.describe()));
  refuseOtherMethods(app, descriptionPath, { allow: ['GET', 'HEAD'] });
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

export const adminDescriptionEndpoints: readonly Endpoint[] = [
  {
    id: 'getAdminOpenApi',
    method: 'GET',
    path: descriptionPath,
    tag: 'operator',
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
    problems: [],
    access: 'operator',
  },
];
