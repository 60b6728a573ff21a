import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../core/caller.ts';
import { createTurns, type Turns } from '../core/turns.ts';

/** Maximum requests and calls of one client in a pass of the event loop. Most take less than a millisecond. */
const each = 16;

/**
 * Lets clients take turns with their requests, and returns the turns. What many connections of one client have sent is
 * read in one pass of the event loop, and would all be answered before anybody else's next request.
 */
export function takeTurns(
  app: FastifyInstance,
  clientOf: (request: FastifyRequest) => Client,
): Turns {
  const turns = createTurns({ each });
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(clientOf(request).address, () => {
      // Nobody is left to read an answer, so that none is made.
      if (!request.raw.socket?.destroyed) done();
    });
  });
  return turns;
}
