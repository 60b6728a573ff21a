import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { packagePath } from '../../lib/files/package-path.ts';
import { moveBaseUrl } from '../../lib/http/base-url-of-examples.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';

const byName = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).readonly();

const recordedExamples = z.object({
  baseUrl: z.string(),
  parameters: byName(z.unknown()),
  reads: byName(byName(z.unknown())),
  /** Response bodies of endpoints, keyed by operation id, then by status, then by media type. */
  endpoints: byName(byName(byName(z.unknown()))),
  problems: byName(z.unknown()),
});

/** Example responses, recorded by `npm run generate` from a server with sample posts. */
export type RecordedExamples = Readonly<z.output<typeof recordedExamples>>;

/** Reads `openapi/examples.json`, rewritten for `baseUrl`. Throws Error if it is missing. */
export function readExamples(baseUrl: string): RecordedExamples {
  const text = readFileSync(packagePath('openapi/examples.json'), 'utf8');
  return moveExamples(recordedExamples.parse(JSON.parse(text)), baseUrl);
}

/** Returns only the examples of parameters, without the much longer recorded responses. */
export const keepParameters = (examples: RecordedExamples): RecordedExamples => ({
  ...examples,
  reads: {},
  endpoints: {},
  problems: {},
});

export function moveExamples(examples: RecordedExamples, baseUrl: string): RecordedExamples {
  const moved = moveBaseUrl(JSON.stringify(examples), { from: examples.baseUrl, to: baseUrl });
  return recordedExamples.parse(JSON.parse(moved));
}

export type NamedExamples = Readonly<Record<string, { readonly value: unknown }>>;

/** Returns the replies by names such as `getPost.json` or `getKey.200.application-json`. */
export function nameExamples({ reads, endpoints, problems }: RecordedExamples): NamedExamples {
  const named: Record<string, { readonly value: unknown }> = {};
  for (const [read, bodies] of Object.entries(reads)) {
    for (const [format, value] of Object.entries(bodies)) named[`${read}.${format}`] = { value };
  }
  for (const [id, replies] of Object.entries(endpoints)) {
    for (const [status, bodies] of Object.entries(replies)) {
      for (const [mediaType, value] of Object.entries(bodies)) {
        named[nameOfReply(id, status, mediaType)] = { value };
      }
    }
  }
  for (const [code, value] of Object.entries(problems)) named[`problem.${code}`] = { value };
  return named;
}

export function nameOfReply(id: string, status: number | string, mediaType: string): string {
  return `${id}.${status}.${mediaType.replaceAll(/[^\w.-]/g, '-')}`;
}

/** Returns the OpenAPI member `examples` with references; an empty object if none is recorded. */
export function referToExamples(
  examples: NamedExamples,
  names: readonly (readonly [label: string, name: string])[],
): { readonly examples?: JsonSchema } {
  const recorded = names.filter(([, name]) => Object.hasOwn(examples, name));
  if (recorded.length === 0) return {};
  const prefix = '#/components/examples/';
  const references = recorded.map(([label, name]) => [label, { $ref: `${prefix}${name}` }]);
  return { examples: Object.fromEntries(references) };
}
