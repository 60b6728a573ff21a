import type { FastifyInstance, preParsingHookHandler } from 'fastify';
import { Problem, quoteInput } from '../core/problem.ts';

const bodyless = ['GET', 'HEAD', 'OPTIONS'];

/** Refuses compressed request bodies on all routes with 415, after the other checks that need no body. */
export function refuseCodedBodies(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => bodyless.includes(method))) return;
    route.preParsing = [refuseCodedBody, route.preParsing ?? []].flat();
  });
}

const refuseCodedBody: preParsingHookHandler = ({ headers }, reply, payload, done) => {
  const coding = headers['content-encoding'] ?? '';
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || /^(?:identity)?$/i.test(coding)) return done(null, payload);
  // RFC 9110 §15.5.16: the header tells the client that the coding is at fault, and not the media type.
  reply.header('accept-encoding', 'identity');
  done(
    new Problem('unsupported_media_type', {
      detail: `The header \`Content-Encoding\` is ${quoteInput(coding)}. This server reads only bodies without a coding.`,
    }),
  );
};
