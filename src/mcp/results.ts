import { Problem, type ProblemDocument, toProblemDocument } from '../core/problem.ts';
import { createSlices, type Sliced } from '../core/scheduling/slices.ts';
import type { Waiting } from '../fetching/cost.ts';
import type { KeptViews } from '../fetching/views.ts';
import type { PlanContext } from '../reads/read.ts';
import { type Answered, nameView, type Reader } from '../reads/run.ts';
import { readArguments, type ToolArguments } from './arguments.ts';
import type { ReadTool, ToolDefinition } from './tools.ts';

interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** The result of a tool call (MCP 2026-07-28, Tools: Tool Result). */
export interface ToolResult {
  readonly content: TextBlock[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
  readonly [member: string]: unknown;
}

/** Who calls a tool. */
interface Calling {
  /** The results that are kept beside their answers. */
  readonly results: KeptViews<PreparedResult>;
  readonly waiting: Waiting;
  /** Waits until a long result may be rendered further; default: it is rendered in one piece. */
  readonly takeTurn?: (() => Promise<void>) | undefined;
}

/** What tools read with. */
export interface ToolContext {
  readonly reader: Reader;
  readonly context: PlanContext;
  /** Told of what is thrown and is no problem; the caller learns nothing of it. */
  readonly onDefect: (error: unknown, requestId?: string) => void;
}

/**
 * Calls a tool: the text is the body that HTTP gives for the same parameters, the structured content
 * its JSON. A failure is a result as well, with a problem document.
 *
 * @throws the signal's reason when the one who called has left.
 */
export async function callTool(
  tool: ReadTool,
  args: ToolArguments,
  setting: ToolContext & Calling,
): Promise<ToolResult> {
  try {
    return await readTool(tool, args, setting);
  } catch (error) {
    if (setting.waiting.signal.aborted) throw error;
    if (!(error instanceof Problem)) setting.onDefect(error);
    const problem = error instanceof Problem ? error : defect(error);
    return toFailure(toProblemDocument(problem, { baseUrl: setting.context.baseUrl }));
  }
}

async function readTool(
  { read, definition }: ReadTool,
  args: ToolArguments,
  { reader, results, waiting, takeTurn }: ToolContext & Calling,
): Promise<ToolResult> {
  const { given, unknown } = readArguments(read, args);
  const answered = await reader.fetch(reader.understand(read, given), waiting);
  const sliced = takeTurn === undefined ? {} : createSlices(takeTurn);
  const { text, structuredContent } = await prepare(answered, { reader, results }, sliced);
  const block = { type: 'text', text } as const;
  return {
    content: unknown.length === 0 ? [block] : [block, tellIgnored(unknown, definition)],
    structuredContent,
  };
}

/** A result that is ready to be sent. */
export interface PreparedResult {
  readonly text: string;
  /** Shared by all results of the answer: nobody changes it. */
  readonly structuredContent: Record<string, unknown>;
}

/** Returns the result of an answer, kept beside the representations that it is made of. */
async function prepare(
  answered: Answered,
  { reader, results }: Pick<ToolContext & Calling, 'reader' | 'results'>,
  sliced: Sliced,
): Promise<PreparedResult> {
  const { format = 'markdown' } = answered.understood;
  const { views } = answered.answer;
  const name = nameView(answered, format);
  const kept = results.get(views, name);
  if (kept !== undefined) return kept;
  const textOf = async (of: typeof format) =>
    (await reader.represent(answered, of, sliced)).body.toString();
  const [text, json] = [await textOf(format), await textOf('json')];
  const prepared = { text, structuredContent: JSON.parse(json) };
  results.set(views, name, prepared, 2 * text.length + bytesPerCharacter * json.length);
  return prepared;
}

/** Bytes that parsed JSON takes in memory for each of its characters, at most about. */
const bytesPerCharacter = 4;

/** As on HTTP they change nothing; but whoever calls a tool has mostly misspelt one, and is told. */
function tellIgnored(
  unknown: readonly string[],
  { name, inputSchema: { properties } }: ToolDefinition,
): TextBlock {
  const told = unknown.slice(0, 5).map((one) => JSON.stringify(one.slice(0, 80)));
  const more = unknown.length > told.length ? ' and more' : '';
  return {
    type: 'text',
    text: `Ignored: ${told.join(', ')}${more}. ${name} takes ${Object.keys(properties).join(', ')}.`,
  };
}

function toFailure(problem: ProblemDocument): ToolResult {
  const { title, detail, code, resolution, retry_after: retryAfter } = problem;
  const lines = [
    `${title}. ${detail}`,
    '',
    `code: ${code}`,
    `resolution: ${resolution}`,
    ...(retryAfter === undefined ? [] : [`retry_after: ${retryAfter}`]),
  ];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { ...problem },
    isError: true,
  };
}

function defect(cause: unknown): Problem {
  return new Problem('internal_error', { detail: 'The server failed to answer.', cause });
}
