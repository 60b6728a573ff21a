import type * as z from 'zod';
import type { Answer, Plan } from '../fetching/plan.ts';
import { type JsonSchema, toInputSchema } from '../lib/json-schema.ts';
import type { SearchPlatform } from '../model/reference.ts';
import {
  embedReply,
  type Format,
  feedFormats,
  listReply,
  postReply,
  type Result,
} from '../model/results.ts';
import type { RenderContext } from '../render/context.ts';
import type { AddressOptions } from './addresses/address.ts';
import type { CursorCodec } from './cursor.ts';
import { warnAboutMisspelt } from './misspelt.ts';
import { listEffective, parameterSchemas, parseParameters, type SomeOf } from './parameters.ts';

export interface PlanContext extends AddressOptions, RenderContext {
  readonly cursors: CursorCodec;
  readonly searchPlatform: SearchPlatform;
  /** Seconds for which Perch caches a post; also the `cache_age` of oEmbed documents. */
  readonly embedSeconds: number;
}

export interface ParsedRead {
  readonly plan: Plan;
  /** Value of `format`; `undefined` if the request header `Accept` selects the format. */
  readonly format: Format | undefined;
  /** Whether the result is available as a feed, which requires a result that consists of posts. */
  readonly hasFeeds: boolean;
  /** Cache key of the response by format. The same data and key mean the same bytes. */
  readonly views: Readonly<Record<Format, string>>;
  assemble(answer: Answer): Result;
}

/** Subject of operations: a tag in the OpenAPI document and a page of the API reference. */
export type Topic = 'posts' | 'profiles' | 'follows' | 'search' | 'history' | 'embeds' | 'feeds';

export interface ReadAbout {
  /** OpenAPI operation id of the read operation. */
  readonly name: string;
  /** Name as a reader would search it, such as `Get a post` (`summary` in OpenAPI). */
  readonly title: string;
  /** Tag of the operation in the OpenAPI document. */
  readonly topic: Topic;
  readonly summary: string;
  /** Name of the MCP tool for the read operation; `null` if there is no tool. */
  readonly tool: string | null;
  /** Whether the routes check API keys, which can have a higher rate limit. */
  readonly isBrowse: boolean;
  /** Schema of the request parameters. `handle` and `id` can be path parameters. */
  readonly params: z.ZodObject;
  /** Required parameters, optional in the schema: `parse` reports specific errors for them. */
  readonly requires: readonly string[];
  readonly reply: z.ZodType;
}

/** Read operation with a response that is sent at once, in contrast to a stream. */
export interface Read extends ReadAbout {
  /** Kind of the result, which determines the available output formats. */
  readonly kind: Result['kind'];
  /** Parses parameters without side effects. @throws Problem with status 400 if they are invalid */
  parse(given: Readonly<Record<string, unknown>>, context: PlanContext): ParsedRead;
}

const replies = { post: postReply, browse: listReply, embed: embedReply };

/** Description of a read operation, without the response schema, which `createRead` adds. */
export type ReadOf<Params extends z.ZodObject> = Omit<
  ReadAbout,
  'params' | 'requires' | 'reply'
> & {
  readonly params: Params;
  readonly requires?: readonly string[];
};

/** Result of parsing the parameters of a read operation. The cache keys are computed from it. */
export type ReadPlan<Params extends z.ZodObject> = Omit<ParsedRead, 'plan' | 'views'> & {
  readonly plan: Omit<Plan, 'key'>;
  /** Parsed parameters in a normal form. May lack those in `plan.subject` or `plan.query`. */
  readonly parameters: SomeOf<z.output<Params>>;
};

/** Creates a read that parses parameters, computes cache keys and warns about misspelt ones. */
export function createRead<Params extends z.ZodObject>(
  about: ReadOf<Params> & Pick<Read, 'kind'>,
  parse: (params: z.output<Params>, context: PlanContext) => ReadPlan<Params>,
): Read {
  const { params, kind, requires = [] } = about;
  const known = Object.keys(params.shape);
  return {
    ...about,
    requires,
    reply: replies[kind],
    parse: (given, context) => {
      const { parameters, ...planned } = parse(parseParameters(params, given), context);
      const parsed = { ...planned, plan: { ...planned.plan, key: nameAnswer(planned.plan) } };
      const view = `${kind} ${JSON.stringify(listEffective(params, parameters))}`;
      // oEmbed documents have no place for warnings.
      const warnings = kind === 'embed' ? [] : warnAboutMisspelt(known, given);
      return addWarnings({ ...parsed, views: nameViews(view) }, warnings);
    },
  };
}

/** Adds warnings to a read, and therefore to the cache keys of its rendered responses. */
export function addWarnings(parsed: ParsedRead, warnings: readonly string[]): ParsedRead {
  if (warnings.length === 0) return parsed;
  const added = JSON.stringify(warnings);
  const views = Object.entries(parsed.views).map(([format, name]) => [format, `${name} ${added}`]);
  return {
    ...parsed,
    views: Object.fromEntries(views) as ParsedRead['views'], // the same formats
    assemble: (answer) => {
      const result = parsed.assemble(answer);
      if (result.kind === 'embed') return result;
      return { ...result, warnings: [...warnings, ...result.warnings] };
    },
  };
}

function nameAnswer({ query, subject, isLiveOnly }: ReadPlan<z.ZodObject>['plan']): string {
  // The subject is equal for all handles with which a post can be requested.
  const named = query.kind === 'post' ? { ...query, post: subject } : query;
  return JSON.stringify([named, isLiveOnly]);
}

/** Returns cache keys that consist of the format and `name`. */
export function nameViews(name: string): ParsedRead['views'] {
  return {
    markdown: `markdown ${name}`,
    json: `json ${name}`,
    data: `data ${name}`,
    obsidian: `obsidian ${name}`,
    html: `html ${name}`,
    preview: `preview ${name}`,
    atom: `atom ${name}`,
    rss: `rss ${name}`,
    jsonfeed: `jsonfeed ${name}`,
  };
}

export function staleWarnings(answer: Pick<Answer, 'cache'>, fetchedAt: string): readonly string[] {
  if (answer.cache !== 'stale') return [];
  return [
    `Stale: this copy was fetched at ${fetchedAt}; no request to the upstream has succeeded since.`,
  ];
}

/** Returns whether a read can be a feed: lists of accounts cannot. */
export function acceptsFeeds(read: ReadAbout): boolean {
  const schema = describeParametersOf(read).find(({ name }) => name === 'format')?.schema;
  const names: unknown = schema?.enum;
  return Array.isArray(names) && feedFormats.every((one) => names.includes(one));
}

/** Returns descriptions in the order of the schema, for OpenAPI and MCP. */
export function describeParametersOf({ params, requires }: Pick<ReadAbout, 'params' | 'requires'>) {
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
