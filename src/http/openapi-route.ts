import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { serveDocument } from './document.ts';
import { describeOpenApi } from './openapi.ts';
import { readExamples } from './openapi-examples.ts';
import type { OpenApiFacts } from './openapi-facts.ts';

/** The context of the machine description's route. */
export interface OpenApiRouteOptions extends Omit<OpenApiFacts, 'nowMs' | 'examples'> {
  readonly clock: Clock;
}

/** Registers `/openapi.json` (spec: Discovery). */
export async function openApiPlugin(
  app: FastifyInstance,
  { clock, ...facts }: OpenApiRouteOptions,
) {
  // Read when the document is made: a start does not wait for it.
  const describe = (nowMs: number) =>
    describeOpenApi({ ...facts, nowMs, examples: readExamples(facts.baseUrl) });
  serveDocument(app, { url: '/openapi.json', clock, describe });
}
