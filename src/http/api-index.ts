import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { type ApiFacts, describeApi } from './api-description.ts';
import { serveDocument } from './document.ts';

/** The context of the description's route. */
export interface ApiIndexOptions extends Omit<ApiFacts, 'nowMs'> {
  readonly clock: Clock;
}

/** Registers `/api`, the machine-readable description of the service (spec: Discovery). */
export async function apiIndexPlugin(app: FastifyInstance, { clock, ...facts }: ApiIndexOptions) {
  const describe = (nowMs: number) => describeApi({ ...facts, nowMs });
  serveDocument(app, { url: '/api', clock, describe });
}
