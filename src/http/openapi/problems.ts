import { z } from 'zod';
import { type JsonSchema, refer } from '../../core/json-schema.ts';
import {
  type ProblemCode,
  type ProblemDocument,
  type ProblemKind,
  problemKinds,
  problemMediaType,
  toProblemType,
} from '../../core/problem.ts';
import { type NamedExamples, referToExamples } from './examples.ts';
import { referHeaders } from './headers.ts';

export const problemCodes = Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]];

export const problemReply = z
  .object({
    type: z.string().describe('The address of the page that explains the code.'),
    title: z.string(),
    status: z.number().int().describe('The status of this response.'),
    detail: z.string().describe('What was wrong this time; for people.'),
    instance: z
      .string()
      .exactOptional()
      .describe('Path and query of the request, without secrets.'),
    code: z
      .enum(problemCodes)
      .describe('Says what to do about it; keeps its meaning and its status.'),
    resolution: z.string().describe('What to do next; for people.'),
    retry_after: z.number().int().exactOptional().describe('Seconds; equal to `Retry-After`.'),
    error: z.string().exactOptional().describe('On session routes: the same as `detail`.'),
    ok: z.literal(false).exactOptional().describe('On session routes.'),
  })
  .meta({ id: 'Problem' }) satisfies z.ZodType<ProblemDocument>;

/** Describes the body of a problem that has one of some codes. */
export function describeProblemContent(
  examples: NamedExamples,
  told: readonly ProblemCode[],
): JsonSchema {
  const recorded = referToExamples(
    examples,
    told.map((code) => [code, `problem.${code}`]),
  );
  return { [withoutCharset(problemMediaType)]: { schema: refer(problemReply), ...recorded } };
}

const refusedCodes = [
  'malformed_request',
  'origin_not_allowed',
  'request_timeout',
  'headers_too_large',
] as const;

/** Describes the response to a request that reaches no operation. */
export function describeRefused(examples: NamedExamples): JsonSchema {
  return {
    description:
      'The request was refused before this operation was reached: malformed, too large, too slow, or from a web origin or under a host name that is not allowed.',
    headers: referHeaders(['X-Request-Id', 'Cache-Control']),
    content: describeProblemContent(examples, refusedCodes),
  };
}

/** Describes when each code is used. */
export function tellCodes(told: readonly ProblemCode[]): string {
  return told.map((code) => `\`${code}\`: ${problemKinds[code].when}.`).join('\n\n');
}

/** Describes what each code means, whatever operation answers with it: `x-problem-codes` of the document. */
export function describeProblemCodes(baseUrl: string): JsonSchema {
  const rows = problemCodes.map((code) => {
    const { status, title, when, resolution, retryAfterSeconds }: ProblemKind = problemKinds[code];
    const wait = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds };
    return [
      code,
      { type: toProblemType(code, baseUrl), status, title, when, resolution, ...wait },
    ] as const;
  });
  return Object.fromEntries(rows);
}

/** Removes the parameters of a media type (OpenAPI 3.1 §4.8.14). */
export function withoutCharset(mediaType: string): string {
  return mediaType.split(';', 1)[0] ?? mediaType;
}
