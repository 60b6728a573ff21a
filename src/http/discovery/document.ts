import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../core/clock.ts';
import type { EndpointReply } from '../../core/endpoint.ts';
import { corsHeaders } from '../../web/cors.ts';
import type { Headers } from '../../web/headers.ts';
import {
  nothingOfItsOwn,
  type PreparedReply,
  prepareReply,
  sendPrepared,
} from '../../web/reply.ts';
import { describedHeaders, notModified } from '../openapi/headers.ts';
import { aliasRoutes } from '../reads/routes.ts';

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
  others: NonNullable<EndpointReply['headers']> = {},
): readonly EndpointReply[] {
  const headers = { ETag: { description: describedHeaders.ETag.description }, ...others };
  return [
    { status: 200, description: 'The document.', content, headers },
    { status: 304, description: notModified, headers },
  ];
}

/** A body with its media type. */
export interface DocumentForm {
  /** The value of `Content-Type`. */
  readonly mediaType: string;
  /** Gives the body as it is at an instant, in milliseconds since the epoch. */
  write(nowMs: number): string;
}

/** A document that is made once and sent many times. */
export interface FormedDocument {
  readonly url: string;
  readonly clock: Clock;
  /** What everybody gets who does not ask for the other form. */
  readonly form: DocumentForm;
  /** Another form of the same document, for those whose `Accept` asks for it (RFC 9110 §12.5.1). */
  readonly otherForm?: DocumentForm & { isAsked(accept: string | undefined): boolean };
  /** Headers beside those of every document. */
  readonly headers?: Headers;
  /** Gives the next instant at which the document can change; default: when a route's state does. */
  changesAt?(nowMs: number): number;
}

/** The media type of JSON. Clients look for it rather than for one of their own, such as OpenAPI's. */
export const jsonMediaType = 'application/json; charset=utf-8';

/** Registers a JSON document at its address. */
export function serveDocument(app: FastifyInstance, { url, clock, describe }: TableDocument): void {
  const write = (nowMs: number) => JSON.stringify(describe(nowMs));
  serveFormed(app, { url, clock, form: { mediaType: jsonMediaType, write } });
}

/** Registers a document at its address: GET and HEAD with an entity tag, 405 for every other method. */
export function serveFormed(app: FastifyInstance, document: FormedDocument): void {
  const { url, form, otherForm } = document;
  const prepare = createPreparation(document, form);
  const prepareOther = otherForm === undefined ? prepare : createPreparation(document, otherForm);
  app.get(url, (request, reply) => {
    const isOther = otherForm?.isAsked(request.headers.accept) === true;
    sendPrepared({ request, reply }, (isOther ? prepareOther : prepare)(), nothingOfItsOwn);
  });
  app.methodTable.add(url, { allow: ['GET', 'HEAD'] });
}

function createPreparation(
  { clock, otherForm, headers, changesAt }: FormedDocument,
  form: DocumentForm,
): () => PreparedReply {
  const own = { ...headers, ...(otherForm === undefined ? {} : { vary: 'Accept' }) };
  const make = (nowMs: number) =>
    toReply({ body: form.write(nowMs), mediaType: form.mediaType, headers: own });
  return keepUntilChange(make, clock, changesAt);
}

/**
 * Returns a function that makes a value at its first call and keeps it for as long as nothing in it can
 * change. So a start does not wait for documents, and no request makes one anew.
 *
 * @param make Makes the value as it is at an instant, in milliseconds since the epoch.
 * @param changesAt Returns the next instant at which it can change. Default: when a route's state does.
 */
export function keepUntilChange<Value>(
  make: (nowMs: number) => Value,
  clock: Clock,
  changesAt: (nowMs: number) => number = nextStateChange,
): () => Value {
  let kept: { readonly fromMs: number; readonly untilMs: number; value: Value } | undefined;
  return () => {
    const nowMs = clock.now();
    if (kept === undefined || nowMs < kept.fromMs || nowMs >= kept.untilMs) {
      kept = { fromMs: nowMs, untilMs: changesAt(nowMs), value: make(nowMs) };
    }
    return kept.value;
  };
}

/** Gives the next instant at which the state of a route changes; infinity where none does. */
function nextStateChange(nowMs: number): number {
  const dates = aliasRoutes.flatMap(({ lifecycle }) => [
    lifecycle.deprecationMs,
    lifecycle.sunsetMs,
  ]);
  return Math.min(...dates.filter((dateMs) => dateMs > nowMs), Number.POSITIVE_INFINITY);
}

interface DocumentBody {
  readonly body: string;
  readonly mediaType: string;
  readonly headers: Headers;
}

function toReply({ body: text, mediaType, headers }: DocumentBody): PreparedReply {
  const body = Buffer.from(text);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  const all = {
    ...corsHeaders,
    ...headers,
    'content-type': mediaType,
    'content-length': String(body.length),
    etag: `"${hash}"`,
    'cache-control': 'public, max-age=60',
  };
  return prepareReply(all, body);
}
