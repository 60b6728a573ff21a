import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../core/clock.ts';
import { corsHeaders } from '../../web/cors.ts';
import type { Headers } from '../../web/headers.ts';
import { nothingOfItsOwn, type PreparedReply, sendPrepared } from '../../web/reply.ts';
import { prepareBody } from '../pages/page-reply.ts';
import { negotiate, offers } from '../reads/negotiation.ts';

/** A document that is made once a day and sent many times. */
interface ServedDocument {
  readonly url: string;
  readonly clock: Clock;
  readonly mediaType: string;
  readonly headers: Headers;
  /** Returns the body at an instant, in milliseconds since the epoch. */
  write(nowMs: number): string;
  /** Writes the document for callers whose `Accept` prefers Markdown. */
  writeMarkdown?(nowMs: number): string;
}

/** Registers a document: GET and HEAD with an entity tag, 405 for every other method. */
export function serveDocument(app: FastifyInstance, document: ServedDocument): void {
  const { url, clock, mediaType, write, writeMarkdown } = document;
  const headers = {
    ...corsHeaders,
    'cache-control': 'public, max-age=60',
    ...document.headers,
    ...(writeMarkdown === undefined ? {} : { vary: 'Accept' }),
  };
  const keepReply = (type: string, writeBody: (nowMs: number) => string): (() => PreparedReply) =>
    keepForTheDay(
      (nowMs) => prepareBody(writeBody(nowMs), { ...headers, 'content-type': type }),
      clock,
    );
  const usual = keepReply(mediaType, write);
  const markdown = writeMarkdown && keepReply('text/markdown; charset=utf-8', writeMarkdown);
  app.get(url, { config: { cors: false, describe: () => corsHeaders } }, (request, reply) => {
    const isMarkdown = negotiate(request.headers.accept, offers.apiIndex) === 'markdown';
    const chosen = (isMarkdown && markdown) || usual;
    sendPrepared({ request, reply }, chosen(), nothingOfItsOwn);
  });
  app.methodTable.add(url, { allow: ['GET', 'HEAD'] });
}

const dayMs = 86_400_000;

/**
 * Returns a function that makes a value at its first call of each day in UTC. Documents depend on nothing else:
 * the states of routes change at midnight. So start-up does not wait for documents, and no request makes one anew.
 */
export function keepForTheDay<Value>(make: (nowMs: number) => Value, clock: Clock): () => Value {
  let kept: { readonly day: number; readonly value: Value } | undefined;
  return () => {
    const nowMs = clock.now();
    const day = Math.floor(nowMs / dayMs);
    if (kept?.day !== day) kept = { day, value: make(nowMs) };
    return kept.value;
  };
}
