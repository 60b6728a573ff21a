import type { Sliced } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { Fetcher } from '../fetching/fetch.ts';
import { type Answer, createRenderingCache } from '../fetching/plan.ts';
import type { Format, Result } from '../model/results.ts';
import { type Representation, represent } from '../render/formats.ts';
import type { PlanContext, Read, Understood } from './read.ts';

export interface Answered {
  readonly understood: Understood;
  readonly answer: Answer;
}

/** Runs reads for every surface: parameters, plan, fetch, assembly, representation (docs/architecture.md). */
export type Reader = ReturnType<typeof createReader>;

export function createReader(fetcher: Pick<Fetcher, 'getFresh' | 'fetch'>, context: PlanContext) {
  const kept = createRenderingCache<Representation>();
  return {
    /** @throws Problem 400 */
    understand: (read: Read, given: Readonly<Record<string, unknown>>): Understood =>
      read.understand(given, context),
    /** Returns the answer if the cache has a fresh one; throws Problem `not_found`. */
    getFresh: (understood: Understood): Answered | undefined => {
      const answer = fetcher.getFresh(understood.plan);
      return answer && { understood, answer };
    },
    /** @throws Problem, as `Fetcher.fetch` */
    fetch: async (understood: Understood, requester?: Requester): Promise<Answered> => ({
      understood,
      answer: await fetcher.fetch(understood.plan, requester),
    }),
    assemble: ({ understood, answer }: Answered): Result => understood.assemble(answer),
    /** Represents the result in a format, with bytes that are kept beside the answer. */
    represent: async (answered: Answered, format: Format, sliced: Sliced) => {
      const { understood, answer } = answered;
      const name = nameView(answered, format);
      const known = kept.get(answer.renderings, name);
      if (known !== undefined) return known;
      const made = await represent(understood.assemble(answer), format, sliced);
      kept.set(answer.renderings, name, made, made.body.length);
      return made;
    },
  };
}

/** Names a view of an answer: equal names, equal bytes. A stale answer has a warning that a fresh one has not. */
export const nameView = ({ understood, answer }: Answered, format: Format): string =>
  `${answer.cache === 'stale' ? 'stale ' : ''}${understood.views[format]}`;
