import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { packagePath } from '../../core/files/package-path.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import type { ProblemCode } from '../../core/problem.ts';

const byName = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).readonly();

const recordedExamples = z.object({
  /** Where the recorded server was. */
  baseUrl: z.string(),
  /** Values of the parameters that were sent, by name. */
  parameters: byName(z.unknown()),
  /** Bodies of reads, by read and then by format. */
  reads: byName(byName(z.unknown())),
  /** Bodies of endpoints, by operation id, then by status, then by media type. */
  endpoints: byName(byName(byName(z.unknown()))),
  /** Problem documents, by code. */
  problems: byName(z.unknown()),
});

/** What a server with the sample alone answered: `npm run generate` asks it. */
export type RecordedExamples = Readonly<z.output<typeof recordedExamples>>;

/**
 * Gives the recorded examples as this server would answer: with its own address.
 *
 * @throws Error when the file is not there
 */
export function readExamples(baseUrl: string): RecordedExamples {
  const text = readFileSync(packagePath('openapi/examples.json'), 'utf8');
  return moveExamples(recordedExamples.parse(JSON.parse(text)), baseUrl);
}

/** Gives examples as a server with another address would answer. */
export function moveExamples(examples: RecordedExamples, baseUrl: string): RecordedExamples {
  const { baseUrl: recorded } = examples;
  const moved = JSON.stringify(examples)
    .replaceAll(recorded, baseUrl)
    .replaceAll(encodeURIComponent(recorded), encodeURIComponent(baseUrl));
  return recordedExamples.parse(JSON.parse(moved));
}

/** Gives every example, as the document keeps it under `components`. */
export function describeExamples({ reads, endpoints, problems }: RecordedExamples): JsonSchema {
  const ofReads = Object.entries(reads).flatMap(([read, bodies]) =>
    Object.entries(bodies).map(([format, value]) => [nameOfRead(read, format), { value }] as const),
  );
  const ofEndpoints = Object.entries(endpoints).flatMap(([id, replies]) =>
    Object.entries(replies).flatMap(([status, bodies]) =>
      Object.entries(bodies).map(
        ([mediaType, value]) => [nameOfReply(id, status, mediaType), { value }] as const,
      ),
    ),
  );
  const ofProblems = Object.entries(problems).map(
    ([code, value]) => [nameOfProblem(code), { value }] as const,
  );
  return Object.fromEntries([...ofReads, ...ofEndpoints, ...ofProblems]);
}

/** What a media type of a response says of its examples: references to them, or nothing. */
export type ExamplesMember = { readonly examples?: JsonSchema };

/** Gives the examples of reads in some formats; `names` says what each read is called there. */
export function referToReads(
  { reads }: RecordedExamples,
  names: Readonly<Record<string, string>>,
  formats: readonly string[],
): ExamplesMember {
  return refer(
    Object.entries(names).flatMap(([name, read]) =>
      formats
        .filter((format) => Object.hasOwn(reads[read] ?? {}, format))
        .map((format) => [name === '' ? format : name, nameOfRead(read, format)] as const),
    ),
  );
}

/** Gives the example of a reply of an endpoint. */
export function referToReply(
  { endpoints }: RecordedExamples,
  {
    id,
    status,
    mediaType,
  }: { readonly id: string; readonly status: number; readonly mediaType: string },
): ExamplesMember {
  const isRecorded = Object.hasOwn(endpoints[id]?.[status] ?? {}, mediaType);
  return refer(isRecorded ? [['sample', nameOfReply(id, String(status), mediaType)]] : []);
}

/** Gives the examples of problems. */
export function referToProblems(
  { problems }: RecordedExamples,
  codes: readonly ProblemCode[],
): ExamplesMember {
  const recorded = codes.filter((code) => Object.hasOwn(problems, code));
  return refer(recorded.map((code) => [code, nameOfProblem(code)] as const));
}

function refer(named: readonly (readonly [string, string])[]): ExamplesMember {
  if (named.length === 0) return {};
  const references = named.map(
    ([name, kept]) => [name, { $ref: `#/components/examples/${kept}` }] as const,
  );
  return { examples: Object.fromEntries(references) };
}

function nameOfRead(read: string, format: string): string {
  return `${read}.${format}`;
}

function nameOfReply(id: string, status: string, mediaType: string): string {
  return `${id}.${status}.${mediaType.replaceAll(/[^\w.-]/g, '-')}`;
}

function nameOfProblem(code: string): string {
  return `problem.${code}`;
}
