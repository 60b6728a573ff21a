import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../core/caller.ts';
import { createTurns } from '../core/turns.ts';

/**
 * What is begun in a pass of the event loop: a few requests of each client, and fewer in all after a long pass. Node
 * accepts one connection in a pass, so that new clients wait for as many passes as connections came before theirs.
 */
const limits = { each: 4, ms: 4 };

/**
 * Lets clients take turns with their requests. What many connections of one client have sent is
 * read in one pass of the event loop, and would all be answered before anybody else's next request.
 */
export function takeTurns(
  app: FastifyInstance,
  clientOf: (request: FastifyRequest) => Client,
): void {
  const turns = createTurns(limits);
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(clientOf(request).address, () => {
      const isHere = !request.raw.socket?.destroyed;
      if (isHere) done();
      return isHere;
    });
  });
}
