import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../core/problem.ts';

/** Refuses requests of this scope with `overloaded` while the event loop is late. */
export function setShedding(app: FastifyInstance, maxEventLoopDelayMs: number): void {
  if (maxEventLoopDelayMs === 0) return;
  app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: 250,
    pressureHandler: () => {
      throw new Problem('overloaded', { detail: 'The server has more work than it can do.' });
    },
  });
}
