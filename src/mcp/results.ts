import { Problem, toProblemDocument } from '../core/problem.ts';
import { createSlices } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { RenderingCache } from '../fetching/plan.ts';
import { correctionOf } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { PlanContext, Read } from '../reads/read.ts';
import { type Answered, nameView, type Reader } from '../reads/run.ts';
import type { ReadTool } from './tools.ts';

type ToolArguments = Readonly<Record<string, unknown>>;

interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** The result of a tool call (MCP 2026-07-28, Tools: Tool Result). */
interface ToolResult {
  readonly content: TextBlock[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
  readonly [member: string]: unknown;
}

export interface PreparedResult {
  readonly text: string;
  /** Shared by all results of the answer: it must not be changed. */
  readonly structuredContent: Record<string, unknown>;
}

interface Calling {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly results: RenderingCache<PreparedResult>;
  readonly requester: Requester;
  /** Waits until a long result may be rendered further; default: it is rendered in one piece. */
  readonly takeTurn: (() => Promise<void>) | undefined;
  /** Called with every error that is no problem; the caller learns nothing of it. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Calls a tool: the text is the body that HTTP sends for the same parameters, the structured content
 * its JSON. A failure is a result as well, with a problem document. Throws only if the caller has left.
 */
export async function callTool(
  tool: ReadTool,
  args: ToolArguments,
  calling: Calling,
): Promise<ToolResult> {
  try {
    return await readTool(tool, args, calling);
  } catch (cause) {
    if (calling.requester.signal.aborted) throw cause;
    return toFailure(cause instanceof Problem ? cause : toDefect(cause, calling), calling);
  }
}

function toDefect(cause: unknown, { onDefect }: Calling): Problem {
  onDefect(cause);
  return new Problem('internal_error', { detail: 'The server failed to answer.', cause });
}

/** Maximum number of unknown arguments that are compared with the known ones. */
const maxCompared = 50;

/**
 * Returns the arguments of a call without those that are `null`, which counts as left out, and the names of
 * those that the read neither has nor warns of. Throws Problem for a list: to a read it is a repeated parameter.
 */
function readArguments({ params: { shape } }: Read, args: ToolArguments) {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  const names = Object.keys(shape);
  const list = names.find((name) => Array.isArray(args[name]));
  if (list !== undefined) {
    const { code, accepts } = faultOf(shape[list]);
    throw new Problem(code, {
      detail: `The parameter \`${list}\` is a list; it takes ${accepts}.`,
    });
  }
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(shape, name));
  return {
    given: Object.fromEntries(entries),
    unknown: others.filter(
      (name, at) => at >= maxCompared || correctionOf(name, names) === undefined,
    ),
  };
}

async function readTool(
  { read, definition }: ReadTool,
  args: ToolArguments,
  calling: Calling,
): Promise<ToolResult> {
  const { reader, requester } = calling;
  const { given, unknown } = readArguments(read, args);
  const answered = await reader.fetch(reader.understand(read, given), requester);
  const { text, structuredContent } = await prepare(answered, calling);
  const block = { type: 'text', text } as const;
  return {
    content: unknown.length === 0 ? [block] : [block, warnOfIgnored(unknown, definition)],
    structuredContent,
  };
}

/** Returns the result of an answer, kept beside the representations that it is made of. */
async function prepare(
  answered: Answered,
  { reader, results, takeTurn }: Calling,
): Promise<PreparedResult> {
  const { format = 'markdown' } = answered.understood;
  const { renderings } = answered.answer;
  const name = nameView(answered, format);
  const kept = results.get(renderings, name);
  if (kept !== undefined) return kept;
  const sliced = takeTurn === undefined ? {} : createSlices(takeTurn);
  const textOf = async (of: typeof format) =>
    (await reader.represent(answered, of, sliced)).body.toString();
  const [text, json] = [await textOf(format), await textOf('json')];
  const prepared = { text, structuredContent: JSON.parse(json) };
  results.set(renderings, name, prepared, 2 * text.length + bytesPerCharacter * json.length);
  return prepared;
}

/** Bytes that parsed JSON takes in memory for each of its characters, at most about. */
const bytesPerCharacter = 4;

/** As on HTTP they change nothing; but most unknown arguments of a tool are misspelt. */
function warnOfIgnored(
  unknown: readonly string[],
  { name, inputSchema: { properties } }: ReadTool['definition'],
): TextBlock {
  const told = unknown.slice(0, 5).map((one) => JSON.stringify(one.slice(0, 80)));
  const more = unknown.length > told.length ? ' and more' : '';
  return {
    type: 'text',
    text: `Ignored: ${told.join(', ')}${more}. ${name} takes ${Object.keys(properties).join(', ')}.`,
  };
}

function toFailure(problem: Problem, { context: { baseUrl } }: Calling): ToolResult {
  const document = toProblemDocument(problem, { baseUrl });
  const { title, detail, code, resolution, retry_after: retryAfter } = document;
  const lines = [
    `${title}. ${detail}`,
    '',
    `code: ${code}`,
    `resolution: ${resolution}`,
    ...(retryAfter === undefined ? [] : [`retry_after: ${retryAfter}`]),
  ];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { ...document },
    isError: true,
  };
}
