import { Problem, toProblemDocument } from '../core/problem.ts';
import { createSlices } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { RenderingCache } from '../fetching/plan.ts';
import { findCorrection } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { PlanContext, Read } from '../reads/read.ts';
import { type AnsweredRead, nameView, type Reader } from '../reads/run.ts';
import type { ReadTool } from './tools.ts';

type ToolArguments = Readonly<Record<string, unknown>>;

type TextBlock = Readonly<{ type: 'text'; text: string }>;

/** Result of a tool call (MCP 2026-07-28, Tools: Tool Result). */
interface ToolResult {
  readonly content: TextBlock[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
  readonly [member: string]: unknown;
}

/** Rendered result. Results are cached and shared by several calls, so `structuredContent` must not be modified. */
export type RenderedResult = Readonly<{ text: string; structuredContent: Record<string, unknown> }>;

interface ToolCall {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly results: RenderingCache<RenderedResult>;
  readonly requester: Requester;
  /** Waits for a turn between parts of a long rendering. If `undefined`, the result is rendered without pauses. */
  readonly takeTurn: (() => Promise<void>) | undefined;
  /** Called with each unexpected error. The details of the error are not sent to the caller. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Calls a tool. The text of the result is the body that HTTP sends for the same parameters; the structured content is
 * the JSON body. Returns failures as results with a problem document. Throws only if the client has disconnected.
 */
export async function callTool(tool: ReadTool, args: ToolArguments, call: ToolCall) {
  try {
    return await readTool(tool, args, call);
  } catch (cause) {
    if (call.requester.signal.aborted) throw cause;
    return toFailure(cause instanceof Problem ? cause : toDefect(cause, call), call);
  }
}

function toDefect(cause: unknown, { onDefect }: ToolCall): Problem {
  onDefect(cause);
  return new Problem('internal_error', { detail: 'An unexpected error occurred.', cause });
}

/** Maximum number of unknown arguments that are checked for misspellings. */
const maxCompared = 50;

/**
 * Returns the arguments of a call without `null` values, which count as omitted, and the names of unknown arguments
 * for which the read itself adds no warning. Throws Problem for a list, which a read treats as a repeated parameter.
 */
function readArguments({ params: { shape } }: Read, args: ToolArguments) {
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  const names = Object.keys(shape);
  const list = names.find((name) => Array.isArray(args[name]));
  if (list !== undefined) {
    const { code, accepts } = faultOf(shape[list]);
    const detail = `The parameter \`${list}\` is a list. It takes ${accepts}.`;
    throw new Problem(code, { detail });
  }
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(shape, name));
  return {
    given: Object.fromEntries(entries),
    unknown: others.filter(
      (name, at) => at >= maxCompared || findCorrection(name, names) === undefined,
    ),
  };
}

async function readTool({ read, definition }: ReadTool, args: ToolArguments, call: ToolCall) {
  const { reader, requester } = call;
  const { given, unknown } = readArguments(read, args);
  const answered = await reader.fetch(reader.parse(read, given), requester);
  const { text, structuredContent } = await render(answered, call);
  const block = { type: 'text', text } as const;
  return {
    content: unknown.length === 0 ? [block] : [block, warnOfIgnored(unknown, definition)],
    structuredContent,
  };
}

/** Renders the result of an answer. Results are cached together with the representations of the answer. */
async function render(answered: AnsweredRead, { reader, results, takeTurn }: ToolCall) {
  const { format = 'markdown' } = answered.parsed;
  const { renderings } = answered.answer;
  const name = nameView(answered, format);
  const cached = results.get(renderings, name);
  if (cached !== undefined) return cached;
  const sliced = takeTurn === undefined ? {} : createSlices(takeTurn);
  const textOf = async (of: typeof format) =>
    (await reader.represent(answered, of, sliced)).body.toString();
  const [text, json] = [await textOf(format), await textOf('json')];
  const rendered = { text, structuredContent: JSON.parse(json) };
  results.set(renderings, name, rendered, 2 * text.length + bytesPerCharacter * json.length);
  return rendered;
}

/** Approximate upper limit of the bytes that parsed JSON takes in memory for each character. */
const bytesPerCharacter = 4;

/** Returns a warning about unknown arguments. They are ignored, as over HTTP, but most of them are misspellings. */
function warnOfIgnored(
  unknown: readonly string[],
  { name, inputSchema: { properties } }: ReadTool['definition'],
): TextBlock {
  const shown = unknown.slice(0, 5).map((one) => JSON.stringify(one.slice(0, 80)));
  const more = unknown.length > shown.length ? ' and more' : '';
  return {
    type: 'text',
    text: `Ignored: ${shown.join(', ')}${more}. ${name} takes ${Object.keys(properties).join(', ')}.`,
  };
}

function toFailure(problem: Problem, { context: { baseUrl } }: ToolCall): ToolResult {
  const document = toProblemDocument(problem, { baseUrl });
  const { title, detail, code, resolution, retry_after: retryAfter } = document;
  const lines = [`${title}. ${detail}`, '', `code: ${code}`, `resolution: ${resolution}`];
  if (retryAfter !== undefined) lines.push(`retry_after: ${retryAfter}`);
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { ...document },
    isError: true,
  };
}
