import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import type { EndpointReply } from '../core/endpoint.ts';
import { lifecycleState } from '../core/lifecycle.ts';
import { corsHeaders } from './cors.ts';
import { refuseOtherMethods } from './methods.ts';
import { describedHeaders, notModified } from './openapi-headers.ts';
import { nothingOfItsOwn, type PreparedReply, prepareReply, sendPrepared } from './reply.ts';
import { routes } from './routes.ts';

/** A JSON document that is made of the tables. */
export interface TableDocument {
  readonly url: string;
  readonly clock: Clock;
  /** Gives the document as it is at an instant, in milliseconds since the epoch. */
  describe(nowMs: number): unknown;
}

/** Gives the replies of a document's route, as the machine description tells of them. */
export function documentReplies(
  content: NonNullable<EndpointReply['content']>,
): readonly EndpointReply[] {
  const headers = { ETag: { description: describedHeaders.ETag.description } };
  return [
    { status: 200, description: 'The document.', content, headers },
    { status: 304, description: notModified, headers },
  ];
}

/** Registers a document at its address. */
export function serveDocument(app: FastifyInstance, document: TableDocument): void {
  const prepare = createPreparation(document);
  const config = { cors: false, describe: () => corsHeaders };
  app.get(document.url, { config }, (request, reply) =>
    sendPrepared({ request, reply }, prepare(), nothingOfItsOwn),
  );
  refuseOtherMethods(app, document.url, { allow: ['GET', 'HEAD'] });
}

/**
 * Only the states of the routes change while the process runs, so the reply is kept until they do. The
 * first request makes it: a start does not wait for it.
 */
function createPreparation({ clock, describe }: TableDocument): () => PreparedReply {
  let kept: { readonly states: string; readonly reply: PreparedReply } | undefined;
  return () => {
    const nowMs = clock.now();
    const states = routes.map(({ lifecycle }) => lifecycleState(lifecycle, nowMs)).join();
    if (kept?.states !== states) kept = { states, reply: toReply(describe(nowMs)) };
    return kept.reply;
  };
}

function toReply(document: unknown): PreparedReply {
  const body = Buffer.from(JSON.stringify(document));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  const headers = {
    // Clients look for this media type rather than for one of their own, such as OpenAPI's.
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    etag: `"${hash}"`,
    'cache-control': 'public, max-age=60',
  };
  return prepareReply(headers, body);
}
