import type { FastifyInstance, preParsingHookHandler } from 'fastify';
import { Problem, quoteInput } from '../lib/problem.ts';
import { type BodyLimits, releaseAtEnd } from './unread-bodies.ts';

const bodyless = ['GET', 'HEAD', 'OPTIONS'];

/** Refuses compressed bodies with 415, and bodies beyond the limits on bytes (`overloaded`). */
export function boundBodies(app: FastifyInstance, limits: BodyLimits): void {
  const count = createCount(limits);
  app.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => bodyless.includes(method))) return;
    route.preParsing = [refuseCodedBody, count, route.preParsing ?? []].flat();
  });
}

function createCount({ ledger, clientOf }: BodyLimits): preParsingHookHandler {
  return (request, reply, payload, done) => {
    const { 'transfer-encoding': transferCoding, 'content-length': length } = request.headers;
    const { bodyLimit } = request.routeOptions;
    // A chunked body can have any size up to the limit of the route.
    const size = transferCoding === undefined ? Number(length ?? 0) : bodyLimit;
    const hold = ledger.open('replyBytes', clientOf(request));
    if (!hold.take(Math.min(size, bodyLimit))) return done(overloadedByBodies());
    releaseAtEnd(reply, hold.release);
    done(null, payload);
  };
}

const overloadedByBodies = (): Problem =>
  new Problem('overloaded', {
    detail:
      'Too many bytes of requests and responses are being received or sent, in total or by this client address.',
  });

const refuseCodedBody: preParsingHookHandler = ({ headers }, reply, payload, done) => {
  const coding = headers['content-encoding'] ?? '';
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || /^(?:identity)?$/i.test(coding)) return done(null, payload);
  // RFC 9110 §15.5.16: the header tells the client that the coding is at fault, and not the media
  // type.
  reply.header('accept-encoding', 'identity');
  done(
    new Problem('unsupported_media_type', {
      detail: `The header \`Content-Encoding\` is ${quoteInput(coding)}. This server reads only bodies without a coding.`,
    }),
  );
};
