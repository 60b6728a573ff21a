import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Client } from '../../core/caller.ts';
import type { ServerLoop } from '../../core/scheduling/loop.ts';
import { createTurns } from '../../core/scheduling/turns.ts';

/** Maximum number of requests per client in a pass of the event loop, and the target length of a pass in milliseconds. */
const limits = { each: 4, ms: 20 };

/**
 * Lets clients take turns with their requests. What many connections of one client have sent is
 * read in one pass of the event loop, and would all be answered before anybody else's next request.
 */
export function takeTurns(
  app: FastifyInstance,
  loop: ServerLoop,
  clientOf: (request: FastifyRequest) => Client,
): void {
  const turns = createTurns(limits, loop);
  app.server.on('connection', loop.noteConnection);
  app.addHook('onRequest', (request, _reply, done) => {
    turns.take(clientOf(request).address, () => {
      const isHere = !request.raw.socket?.destroyed;
      if (isHere) done();
      return isHere;
    });
  });
}
