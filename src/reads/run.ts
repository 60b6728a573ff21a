import type { Sliced } from '../core/scheduling/slices.ts';
import type { Waiting } from '../fetching/cost.ts';
import type { Fetcher } from '../fetching/fetch.ts';
import type { Answer } from '../fetching/plan.ts';
import { createKeptViews } from '../fetching/views.ts';
import type { Format, Result } from '../model/results.ts';
import { type Representation, represent } from '../render/formats.ts';
import type { PlanContext, Read, Understood } from './read.ts';

/** A read that was answered. */
export interface Answered {
  readonly understood: Understood;
  readonly answer: Answer;
}

/**
 * Runs reads, for every surface: parameters, plan, fetch, assembly, representation, in this order
 * (docs/architecture.md).
 */
export interface Reader {
  /**
   * Understands the parameters of a read, and plans what to fetch.
   *
   * @throws Problem 400
   */
  understand(read: Read, given: Readonly<Record<string, unknown>>): Understood;
  /**
   * Returns the answer at once if the cache has a fresh one.
   *
   * @throws Problem `not_found`
   */
  recall(understood: Understood): Answered | undefined;
  /**
   * Fetches the answer from the cache or from a provider.
   *
   * @throws Problem, as `Fetcher.fetch`
   */
  fetch(understood: Understood, waiting?: Waiting): Promise<Answered>;
  /** Assembles the result. */
  assemble(answered: Answered): Result;
  /** Represents the result in a format, with bytes that are kept beside the answer. */
  represent(answered: Answered, format: Format, sliced: Sliced): Promise<Representation>;
}

/** Creates the reader over a fetcher. */
export function createReader(
  fetcher: Pick<Fetcher, 'recall' | 'fetch'>,
  context: PlanContext,
): Reader {
  const kept = createKeptViews<Representation>();
  return {
    understand: (read, given) => read.understand(given, context),
    recall: (understood) => {
      const answer = fetcher.recall(understood.plan);
      return answer && { understood, answer };
    },
    fetch: async (understood, waiting) => ({
      understood,
      answer: await fetcher.fetch(understood.plan, waiting),
    }),
    assemble: ({ understood, answer }) => understood.assemble(answer),
    represent: async ({ understood, answer }, format, sliced) => {
      const name = nameView({ understood, answer }, format);
      const known = kept.get(answer.views, name);
      if (known !== undefined) return known;
      const made = await represent(understood.assemble(answer), format, sliced);
      kept.set(answer.views, name, made, made.body.length);
      return made;
    },
  };
}

/** Names a view of an answer: equal names, equal bytes. A stale answer has a warning that a fresh one has not. */
export function nameView({ understood, answer }: Answered, format: Format): string {
  return `${answer.cache === 'stale' ? 'stale ' : ''}${understood.views[format]}`;
}
