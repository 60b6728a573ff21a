import type { z } from 'zod';
import type { Answer, Plan } from '../fetching/plan.ts';
import type { Format, PostResult } from '../model/results.ts';
import type { QueryKind } from '../providers/provider.ts';

/** What a result is rendered as. A format belongs to a result's kind; see `render/formats.ts`. */
export type Result = PostResult;

/** What planning may know beside the parameters. */
export interface PlanContext {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** A request understood: what to fetch, and how to look at what is found. */
export interface Understood<Kind extends QueryKind = QueryKind> {
  readonly plan: Plan<Kind>;
  /** The format that was asked for by name; undefined leaves it to negotiation. */
  readonly format: Format | undefined;
  /** Names what `assemble` and a format make of the answer; equal names, equal bytes. */
  readonly views: Readonly<Record<Format, string>>;
  /** Makes the result of an answer. Pure. */
  assemble(answer: Answer<Kind>): Result;
}

/** One thing that the service can be asked for. */
export interface Read {
  /** The first of its operation ids, as in the machine description. */
  readonly name: string;
  readonly summary: string;
  /** The parameters it takes. */
  readonly params: z.ZodObject;
  /** The body of its JSON representation. */
  readonly reply: z.ZodType;
  /**
   * Understands the parameters of a request. Pure: it depends on them and the context alone.
   *
   * @throws Problem 400
   */
  understand(given: Readonly<Record<string, unknown>>, context: PlanContext): Understood;
}
