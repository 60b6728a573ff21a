import * as z from 'zod';
import { type JsonSchema, refer } from '../../lib/json-schema.ts';
import {
  type ProblemCode,
  type ProblemDocument,
  type ProblemKind,
  problemKinds,
  problemMediaType,
  toProblemType,
} from '../../lib/problem.ts';
import { unavailable } from '../../model/post.ts';
import { type NamedExamples, referToExamples } from './examples.ts';
import { referHeaders } from './headers.ts';

export const problemCodes = Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]];

const text = z.string();
const code = z.enum(problemCodes);

export const problemReply = z
  .object({
    type: z.string().describe('URL of the documentation of the error code.'),
    title: z.string(),
    status: z.number().int().describe('HTTP status of the response.'),
    detail: z.string().describe('Description of the error, for people.'),
    instance: text.exactOptional().describe('Path and query of the request, without secrets.'),
    code: code.describe(
      'Error code for programs. The meaning and the HTTP status of a code never change.',
    ),
    param: text
      .exactOptional()
      .describe('Name of the parameter at fault, or of the member of the request body.'),
    resolution: z.string().describe('Text for people that explains how to solve the problem.'),
    unavailable: unavailable
      .exactOptional()
      .describe('Why the post is unavailable. Present only if a source states the reason.'),
    retry_after: z
      .number()
      .int()
      .exactOptional()
      .describe(
        'Number of seconds to wait before the next attempt, as in the header `Retry-After`.',
      ),
    error: z
      .string()
      .exactOptional()
      .describe('Same text as `detail`. Present only in replies of session routes.'),
    ok: z
      .literal(false)
      .exactOptional()
      .describe('Always `false`. Present only in replies of session routes.'),
  })
  .meta({ id: 'Problem' }) satisfies z.ZodType<ProblemDocument>;

/** OpenAPI description of a response (OpenAPI 3.1 §4.8.17). */
export interface ResponseObject {
  readonly description: string;
  readonly headers: JsonSchema;
  readonly content?: JsonSchema;
}

/** Describes a response with a problem document; the text explains each problem code. */
export function describeProblem(
  codes: readonly ProblemCode[],
  headers: JsonSchema,
  examples: NamedExamples,
): ResponseObject {
  const recorded = referToExamples(
    examples,
    codes.map((code) => [code, `problem.${code}`]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${problemKinds[code].when}.`).join('\n\n'),
    headers,
    content: { [withoutCharset(problemMediaType)]: { schema: refer(problemReply), ...recorded } },
  };
}

const refusedCodes = [
  'malformed_request',
  'origin_not_allowed',
  'request_timeout',
  'headers_too_large',
] as const;

/** Describes the response to a request that is rejected before routing. */
export function describeRefused(examples: NamedExamples): ResponseObject {
  const headers = referHeaders(['X-Request-Id', 'Cache-Control']);
  return {
    ...describeProblem(refusedCodes, headers, examples),
    description:
      'Rejected before it reached this operation: malformed, too large, too slow, or for an origin or host name that is not allowed.',
  };
}

/** Returns the meaning of each problem code, for `x-problem-codes`. */
export function describeProblemCodes(baseUrl: string): JsonSchema {
  const rows = problemCodes.map((code) => {
    const { status, title, when, resolution, retryAfterSeconds }: ProblemKind = problemKinds[code];
    const wait = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds };
    const type = toProblemType(code, baseUrl);
    return [code, { type, status, title, when, resolution, ...wait }] as const;
  });
  return Object.fromEntries(rows);
}

/** Removes parameters such as `charset` from a media type (OpenAPI 3.1 §4.8.14). */
export function withoutCharset(mediaType: string): string {
  return mediaType.split(';', 1)[0] ?? mediaType;
}
