import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../core/caller.ts';
import { createTurns } from '../core/turns.ts';

/** Maximum requests of one client in a pass of the event loop. Most take less than a millisecond. */
const each = 4;

/**
 * Lets clients take turns with their requests. What many connections of one client have sent is
 * read in one pass of the event loop, and would all be answered before anybody else's next request.
 */
export function takeTurns(
  app: FastifyInstance,
  clientOf: (request: FastifyRequest) => Client,
): void {
  const turns = createTurns({ each });
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(clientOf(request).address, () => {
      const isHere = !request.raw.socket?.destroyed;
      if (isHere) done();
      return isHere;
    });
  });
}
