import type { Sliced } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { Fetcher } from '../fetching/fetch.ts';
import { type Answer, createRenderingCache } from '../fetching/plan.ts';
import type { Format, Result } from '../model/results.ts';
import { type Representation, represent } from '../render/formats.ts';
import type { ParsedRead, PlanContext, Read } from './read.ts';

export type AnsweredRead = Readonly<{ parsed: ParsedRead; answer: Answer }>;

/** Parses, fetches and renders reads for HTTP, MCP and the command line (docs/architecture.md). */
export type Reader = ReturnType<typeof createReader>;

export function createReader(fetcher: Pick<Fetcher, 'getFresh' | 'fetch'>, context: PlanContext) {
  const cached = createRenderingCache<Representation>();
  return {
    /** Parses the parameters of a read. @throws Problem with status 400 */
    parse: (read: Read, given: Readonly<Record<string, unknown>>): ParsedRead =>
      read.parse(given, context),
    /** Returns a fresh answer from the cache. @throws Problem `not_found` if the cached answer is “not found” */
    getCached: (parsed: ParsedRead): AnsweredRead | undefined => {
      const answer = fetcher.getFresh(parsed.plan);
      return answer && { parsed, answer };
    },
    /** Fetches the answer to a parsed read. @throws Problem, see Fetcher.fetch */
    fetch: async (parsed: ParsedRead, requester?: Requester): Promise<AnsweredRead> => ({
      parsed,
      answer: await fetcher.fetch(parsed.plan, requester),
    }),
    assemble: ({ parsed, answer }: AnsweredRead): Result => parsed.assemble(answer),
    /** Renders the result in a format, and caches the bytes with the answer. */
    represent: async (answered: AnsweredRead, format: Format, sliced: Sliced) => {
      const { parsed, answer } = answered;
      const name = nameView(answered, format);
      const known = cached.get(answer.renderings, name);
      if (known !== undefined) return known;
      const made = await represent(parsed.assemble(answer), format, sliced);
      cached.set(answer.renderings, name, made, made.body.length);
      return made;
    },
  };
}

/** Returns the cache key of a rendered answer. Stale answers have separate keys, because they contain a warning. */
export const nameView = ({ parsed, answer }: AnsweredRead, format: Format): string =>
  `${answer.cache === 'stale' ? 'stale ' : ''}${parsed.views[format]}`;
