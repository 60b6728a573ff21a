import type { z } from 'zod';
import { type JsonSchema, toInputSchema } from '../core/json-schema.ts';
import type { Answer, Plan } from '../fetching/plan.ts';
import type { SearchPlatform } from '../model/reference.ts';
import { browseReply, embedReply, type Format, postReply, type Result } from '../model/results.ts';
import type { AddressPlace } from './addresses/address.ts';
import type { CursorCodec } from './cursor.ts';
import { warnOfMisspelt } from './misspelt.ts';
import { parameterForms, parseParameters } from './parameters.ts';

export interface PlanContext extends AddressPlace {
  readonly cursors: CursorCodec;
  /** Searched by a search that names no platform. */
  readonly searchPlatform: SearchPlatform;
  /** Seconds that an embedding page may keep a post. */
  readonly embedSeconds: number;
}

export interface Understood {
  readonly plan: Plan;
  /** The format that was asked for by name; `undefined` leaves it to negotiation. */
  readonly format: Format | undefined;
  /** Names the bytes that `assemble` and a format make of the answer; equal names, equal bytes. */
  readonly views: Readonly<Record<Format, string>>;
  assemble(answer: Answer): Result;
}

/** Description of a read. */
export interface ReadAbout {
  /** The first of its operation ids, as in the machine description. */
  readonly name: string;
  readonly summary: string;
  /** The name of its MCP tool; `null` if it has none. */
  readonly tool: string | null;
  /** Whether it is on the browse surface, which looks at keys. */
  readonly isBrowse: boolean;
  /** The parameters it takes; `handle` and `id` may be in the path. */
  readonly params: z.ZodObject;
  /** Parameters that the read requires but its schema does not, for a problem code of its own. */
  readonly requires: readonly string[];
  readonly reply: z.ZodType;
}

/** A read that is answered as a whole. */
export interface Read extends ReadAbout {
  /** The kind of its results, which has the formats that it can be sent in. */
  readonly kind: Result['kind'];
  /** Understands the parameters of a request; throws Problem 400. Pure. */
  understand(given: Readonly<Record<string, unknown>>, context: PlanContext): Understood;
}

const replies = { post: postReply, browse: browseReply, embed: embedReply };

/** What a read says of itself; its reply follows from the kind of its results. */
export type ReadOf<Params extends z.ZodObject> = Omit<
  ReadAbout,
  'params' | 'requires' | 'reply'
> & {
  readonly params: Params;
  readonly requires?: readonly string[];
};

/** What a read understands: `view` names the bytes that `assemble` makes of the answer, without the format. */
export type ReadPlan = Omit<Understood, 'views'> & { readonly view: string };

/** Creates a read, which parses its parameters and warns of misspelt ones. */
export function createRead<Params extends z.ZodObject>(
  about: ReadOf<Params> & Pick<Read, 'kind'>,
  understand: (params: z.output<Params>, context: PlanContext) => ReadPlan,
): Read {
  const { params, kind, requires = [] } = about;
  const known = Object.keys(params.shape);
  return {
    ...about,
    requires,
    reply: replies[kind],
    understand: (given, context) => {
      const { view, ...understood } = understand(parseParameters(params, given), context);
      // oEmbed documents have no place for warnings.
      const warnings = kind === 'embed' ? [] : warnOfMisspelt(known, given);
      if (warnings.length === 0) return { ...understood, views: nameViews(view) };
      return {
        ...understood,
        views: nameViews(`${view} ${JSON.stringify(warnings)}`),
        assemble: (answer) => {
          const result = understood.assemble(answer);
          if (result.kind === 'embed') return result;
          return { ...result, warnings: [...warnings, ...result.warnings] };
        },
      };
    },
  };
}

/** Names each format of a view once, because the names are looked up for every request. */
function nameViews(name: string): Understood['views'] {
  return {
    markdown: `markdown ${name}`,
    json: `json ${name}`,
    obsidian: `obsidian ${name}`,
    preview: `preview ${name}`,
  };
}

export function staleWarnings(answer: Pick<Answer, 'cache'>, fetchedAt: string): readonly string[] {
  if (answer.cache !== 'stale') return [];
  return [
    `Stale: this copy was fetched at ${fetchedAt}; the upstream has not been asked since with success.`,
  ];
}

/** Describes the parameters of a read, in the order of its schema, for machine descriptions. */
export function describeParametersOf({ params, requires }: ReadAbout) {
  const { properties, required = [] } = toInputSchema(params, parameterForms);
  const schemas = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const needed: ReadonlySet<string> = new Set([...(required as readonly string[]), ...requires]);
  return schemas.map(([name, { description = '', ...schema }]) => ({
    name,
    required: needed.has(name),
    description: String(description),
    schema,
  }));
}
