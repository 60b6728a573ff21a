import type { Requester } from '../fetching/cost.ts';
import type { Fetcher } from '../fetching/fetch.ts';
import { type Answer, createRenderingCache, type Plan } from '../fetching/plan.ts';
import { Problem } from '../lib/problem.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';
import type { Format, Result } from '../model/results.ts';
import { type Representation, represent } from '../render/formats.ts';
import type { ParsedRead, PlanContext, Read } from './read.ts';

export type AnsweredRead = Readonly<{ parsed: ParsedRead; answer: Answer }>;

/** Parser, fetcher and renderer of reads for HTTP, MCP and the CLI (docs/architecture.md). */
export type Reader = ReturnType<typeof createReader>;

export function createReader(
  fetcher: Pick<Fetcher, 'getFresh' | 'fetch' | 'keepPosition'>,
  context: PlanContext,
) {
  const cached = createRenderingCache<Representation>();
  const getRepresentation = (answered: AnsweredRead, format: Format): Representation | undefined =>
    cached.get(answered.answer.renderings, nameView(answered, format));
  return {
    /** Parses parameters. @throws Problem with status 400 for invalid parameters */
    parse: (read: Read, given: Readonly<Record<string, unknown>>): ParsedRead =>
      read.parse(given, context),
    /** Returns fresh cached data, if any. @throws Problem `not_found` if that is cached */
    getCached: (parsed: ParsedRead, span?: TraceSpan | undefined): AnsweredRead | undefined => {
      const answer = fetcher.getFresh(parsed.plan, span);
      return answer && { parsed, answer };
    },
    /** Fetches the data for a parsed request. @throws the Problems of `Fetcher.fetch` */
    fetch: async (parsed: ParsedRead, requester?: Requester): Promise<AnsweredRead> => {
      try {
        return { parsed, answer: await fetcher.fetch(parsed.plan, requester) };
      } catch (error) {
        throw nameParam(error, parsed.plan);
      }
    },
    assemble: ({ parsed, answer }: AnsweredRead): Result => parsed.assemble(answer),
    /** Returns the cached bytes of a response, if it was rendered before. */
    getRepresentation,
    /** Renders a response. The same data and format yield the cached bytes. */
    represent: async (answered: AnsweredRead, format: Format, span?: TraceSpan | undefined) => {
      const { parsed, answer } = answered;
      const known = getRepresentation(answered, format);
      if (known !== undefined) return known;
      const rendering = span?.startChild('render', { attributes: { 'perch.format': format } });
      const made = represent(parsed.assemble(answer), { format, context });
      rendering?.end();
      if (made.shown !== null) await fetcher.keepPosition(parsed.plan, answer, made.shown);
      const bytes = made.body.length + replyBytes;
      cached.set(answer.renderings, nameView(answered, format), made, bytes);
      return made;
    },
  };
}

/** Bytes of a cached reply without its body, measured with short posts: 3.5 KB per coding. */
export const replyBytes = 4000;

function nameParam(error: unknown, { param }: Plan): unknown {
  const isAboutPlatform = error instanceof Problem && error.code === 'unsupported_platform';
  return isAboutPlatform && param !== undefined ? error.with({ param }) : error;
}

/** Returns the cache key. Stale and fresh responses differ: a stale one contains a warning. */
export const nameView = ({ parsed, answer }: AnsweredRead, format: Format): string =>
  `${answer.cache === 'stale' ? 'stale ' : ''}${parsed.views[format]}`;
