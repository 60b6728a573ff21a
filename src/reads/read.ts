import type { z } from 'zod';
import type { Answer, Plan } from '../fetching/plan.ts';
import type { SearchPlatform } from '../model/reference.ts';
import type { Format, Result } from '../model/results.ts';
import type { AddressPlace } from './addresses/address.ts';
import type { CursorCodec } from './cursor.ts';

/** The settings that planning depends on beside the parameters. */
export interface PlanContext extends AddressPlace {
  readonly cursors: CursorCodec;
  /** What a search asks that does not say it. */
  readonly searchPlatform: SearchPlatform;
  /** Seconds that an embedding page may keep a post. */
  readonly embedSeconds: number;
}

/** A request understood: what to fetch, and how to look at what is found. */
export interface Understood {
  readonly plan: Plan;
  /** The format that was asked for by name; undefined leaves it to negotiation. */
  readonly format: Format | undefined;
  /** Names what `assemble` and a format make of the answer; equal names, equal bytes. */
  readonly views: Readonly<Record<Format, string>>;
  /** Makes the result of an answer. Pure. */
  assemble(answer: Answer): Result;
}

/** What is told of one thing that the service can be asked for. */
export interface ReadAbout {
  /** The first of its operation ids, as in the machine description. */
  readonly name: string;
  readonly summary: string;
  /** The name of its MCP tool; null where it has none. */
  readonly tool: string | null;
  /** Whether it is on the browse surface, where keys are looked at. */
  readonly isBrowse: boolean;
  /** The parameters it takes; `handle` and `id` may stand in the path. */
  readonly params: z.ZodObject;
  /** Those that it refuses to go without, though their schemas take none, to say so with a code of its own. */
  readonly requires: readonly string[];
  /** The body of its JSON representation. */
  readonly reply: z.ZodType;
}

/** One thing that the service can be asked for, which is answered as a whole. */
export interface Read extends ReadAbout {
  /** The kind of its results, which has the formats that it can be sent in. */
  readonly kind: Result['kind'];
  /**
   * Understands the parameters of a request. Pure: it depends on them and the context alone.
   *
   * @throws Problem 400
   */
  understand(given: Readonly<Record<string, unknown>>, context: PlanContext): Understood;
}

/** Names each format of a view once, because the names are looked up for every request. */
export function nameViews(name: string): Understood['views'] {
  return {
    markdown: `markdown ${name}`,
    json: `json ${name}`,
    obsidian: `obsidian ${name}`,
    preview: `preview ${name}`,
  };
}

/** Gives the warning that goes with a stale answer. */
export function staleWarnings(answer: Pick<Answer, 'cache'>, fetchedAt: string): readonly string[] {
  if (answer.cache !== 'stale') return [];
  return [
    `Stale: this copy was fetched at ${fetchedAt}; the upstream has not been asked since with success.`,
  ];
}
