import type { z } from 'zod';
import { type JsonSchema, toInputSchema } from '../core/json-schema.ts';
import type { Answer, Plan } from '../fetching/plan.ts';
import type { SearchPlatform } from '../model/reference.ts';
import { browseReply, embedReply, type Format, postReply, type Result } from '../model/results.ts';
import type { AddressOptions } from './addresses/address.ts';
import type { CursorCodec } from './cursor.ts';
import { warnAboutMisspelt } from './misspelt.ts';
import { parameterSchemas, parseParameters } from './parameters.ts';

/** Settings of the server that the parsing of a request depends on. */
export interface PlanContext extends AddressOptions {
  readonly cursors: CursorCodec;
  readonly searchPlatform: SearchPlatform;
  /** Number of seconds for which an embedding page may keep a post. */
  readonly embedSeconds: number;
}

export interface ParsedRead {
  readonly plan: Plan;
  /** Value of the `format` parameter; `undefined` if content negotiation chooses the format. */
  readonly format: Format | undefined;
  /** Cache key of the rendered answer in each format: equal keys mean equal bytes for the same answer. */
  readonly views: Readonly<Record<Format, string>>;
  assemble(answer: Answer): Result;
}

export interface ReadAbout {
  /** OpenAPI operation id of the read's v1 route. */
  readonly name: string;
  readonly summary: string;
  /** Name of the read's MCP tool; `null` if the read has no tool. */
  readonly tool: string | null;
  /** Whether the read belongs to the browse routes, for which callers can send an API key. */
  readonly isBrowse: boolean;
  /** Schema of the parameters; `handle` and `id` may be in the path. */
  readonly params: z.ZodObject;
  /** Required parameters that are optional in the schema, because a missing value has its own problem code. */
  readonly requires: readonly string[];
  readonly reply: z.ZodType;
}

/** Read whose reply is complete when it is sent, as opposed to a stream. */
export interface Read extends ReadAbout {
  /** Kind of the results, which determines the available formats. */
  readonly kind: Result['kind'];
  /** Parses the parameters of a request without side effects. Throws Problem with status 400. */
  parse(given: Readonly<Record<string, unknown>>, context: PlanContext): ParsedRead;
}

const replies = { post: postReply, browse: browseReply, embed: embedReply };

/** Description of a read that is passed to `createRead`, which adds the reply's schema. */
export type ReadOf<Params extends z.ZodObject> = Omit<
  ReadAbout,
  'params' | 'requires' | 'reply'
> & {
  readonly params: Params;
  readonly requires?: readonly string[];
};

/** Result of parsing a read's parameters. `view` identifies the result of `assemble` in cache keys. */
export type ReadPlan = Omit<ParsedRead, 'views'> & { readonly view: string };

/** Creates a read that parses its parameters and warns about misspelt ones. */
export function createRead<Params extends z.ZodObject>(
  about: ReadOf<Params> & Pick<Read, 'kind'>,
  parse: (params: z.output<Params>, context: PlanContext) => ReadPlan,
): Read {
  const { params, kind, requires = [] } = about;
  const known = Object.keys(params.shape);
  return {
    ...about,
    requires,
    reply: replies[kind],
    parse: (given, context) => {
      const { view, ...parsed } = parse(parseParameters(params, given), context);
      // oEmbed documents have no place for warnings.
      const warnings = kind === 'embed' ? [] : warnAboutMisspelt(known, given);
      if (warnings.length === 0) return { ...parsed, views: nameViews(view) };
      return {
        ...parsed,
        views: nameViews(`${view} ${JSON.stringify(warnings)}`),
        assemble: (answer) => {
          const result = parsed.assemble(answer);
          if (result.kind === 'embed') return result;
          return { ...result, warnings: [...warnings, ...result.warnings] };
        },
      };
    },
  };
}

/** Returns the cache key of a view in each format. */
export function nameViews(name: string): ParsedRead['views'] {
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
    `Stale: this copy was fetched at ${fetchedAt}; no request to the upstream has succeeded since.`,
  ];
}

/** Returns descriptions of a read's parameters, in the order of the schema, for OpenAPI and MCP. */
export function describeParametersOf({ params, requires }: ReadAbout) {
  const { properties, required = [] } = toInputSchema(params, parameterSchemas);
  const schemas = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const needed: ReadonlySet<string> = new Set([...(required as readonly string[]), ...requires]);
  return schemas.map(([name, { description = '', ...schema }]) => ({
    name,
    required: needed.has(name),
    description: String(description),
    schema,
  }));
}
