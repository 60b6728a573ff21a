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
import { type RecordedExamples, referToProblems } from './examples.ts';
import { referHeaders } from './headers.ts';

const codes = Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]];

/** A problem document as the machine description tells it; see `ProblemDocument`. */
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
    code: z.enum(codes).describe('Says what to do about it; keeps its meaning and its status.'),
    resolution: z.string().describe('What to do next; for people.'),
    retry_after: z.number().int().exactOptional().describe('Seconds; equal to `Retry-After`.'),
    error: z.string().exactOptional().describe('On session routes: the same as `detail`.'),
    ok: z.literal(false).exactOptional().describe('On session routes.'),
  })
  .meta({ id: 'Problem' }) satisfies z.ZodType<ProblemDocument>;

/** Gives the body of problems, with what was recorded of them. */
export function describeProblemContent(
  examples: RecordedExamples,
  told: readonly ProblemCode[],
): JsonSchema {
  const content = { schema: refer(problemReply), ...referToProblems(examples, told) };
  return { [withoutCharset(problemMediaType)]: content };
}

/** The codes of what is refused before a route is reached. */
const refusedCodes = [
  'malformed_request',
  'origin_not_allowed',
  'request_timeout',
  'headers_too_large',
] as const;

/** Gives what is answered where no operation is reached. */
export function describeRefused(examples: RecordedExamples): JsonSchema {
  return {
    description:
      'The request was refused before this operation was reached: malformed, too large, too slow, or from a web origin or under a host name that is not allowed.',
    headers: referHeaders(['X-Request-Id', 'Cache-Control']),
    content: describeProblemContent(examples, refusedCodes),
  };
}

/** Gives the codes of a status, in the order of the catalogue. */
export function codesOf(status: number): readonly ProblemCode[] {
  return codes.filter((code) => problemKinds[code].status === status);
}

/** Says of each code when it is used. */
export function tellCodes(told: readonly ProblemCode[]): string {
  return told.map((code) => `\`${code}\`: ${problemKinds[code].when}.`).join('\n\n');
}

/**
 * Gives the catalogue of problems, `x-problem-codes` of the document: what each code means, whatever
 * operation answers with it.
 */
export function describeProblemCodes(baseUrl: string): JsonSchema {
  const rows = codes.map((code) => {
    const { status, title, when, resolution, retryAfterSeconds }: ProblemKind = problemKinds[code];
    const wait = retryAfterSeconds === undefined ? {} : { retry_after: retryAfterSeconds };
    return [
      code,
      { type: toProblemType(code, baseUrl), status, title, when, resolution, ...wait },
    ] as const;
  });
  return Object.fromEntries(rows);
}

/** Media types of content are told without their parameters (OpenAPI 3.1 §4.8.14). */
export function withoutCharset(mediaType: string): string {
  return mediaType.split(';', 1)[0] ?? mediaType;
}
