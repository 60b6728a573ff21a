import { Problem, quoteInput, toProblemDocument } from '../core/problem.ts';
import { createSlices } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { RenderingCache } from '../fetching/plan.ts';
import { isFeedFormat } from '../model/results.ts';
import { findCorrection } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { PlanContext, Read } from '../reads/read.ts';
import { type AnsweredRead, nameView, type Reader } from '../reads/run.ts';
import { listTextFormats, type ReadTool } from './tools.ts';

type ToolArguments = Readonly<Record<string, unknown>>;

type TextBlock = Readonly<{ type: 'text'; text: string }>;

/** Result of a tool call (MCP 2026-07-28, Tools: Tool Result). */
interface ToolResult {
  readonly content: TextBlock[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
  readonly [member: string]: unknown;
}

/** Rendered text and JSON of a tool result. Several calls share the cached object, so do not modify it. */
export type RenderedResult = Readonly<{ text: string; structuredContent: Record<string, unknown> }>;

interface ToolCall {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly results: RenderingCache<RenderedResult>;
  readonly requester: Requester;
  /** Lets other requests run between two parts of a long rendering. If `undefined`, renderings run without pauses. */
  readonly takeTurn: (() => Promise<void>) | undefined;
  /** Called with each unexpected error. The MCP client receives no details of the error. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Calls a tool. The text of the result equals the HTTP response body for the same parameters. The structured content
 * equals the same body in JSON format. Returns errors as problem documents (RFC 9457). Throws only after a disconnect.
 */
export async function callTool(tool: ReadTool, args: ToolArguments, call: ToolCall) {
  try {
    return await readTool(tool, args, call);
  } catch (cause) {
    if (call.requester.signal.aborted) throw cause;
    const problem = cause instanceof Problem ? cause : toDefect(cause, call);
    call.requester.span?.fail(problem.code);
    return toFailure(problem, call);
  }
}

function toDefect(cause: unknown, { onDefect }: ToolCall): Problem {
  onDefect(cause);
  return new Problem('internal_error', { detail: 'An unexpected error occurred.', cause });
}

/** Maximum number of unknown arguments that are checked for misspellings. */
const maxCompared = 50;

/**
 * Returns the arguments of a tool call that are not `null`, and a list of unknown arguments. The list omits names that
 * resemble a parameter: the read operation itself warns about them. Throws Problem if an argument is a list.
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

/** Throws Problem `invalid_format` for feeds, which are for feed readers. Other formats are checked by the read. */
function refuseFeed(read: Read, format: unknown): void {
  if (typeof format !== 'string' || !isFeedFormat(format.toLowerCase())) return;
  const words = listTextFormats(read).map((word) => `\`${word}\``);
  const detail = `The parameter \`format\` has the value ${quoteInput(format)}, which tools do not have. It must be ${words.join(' or ')}.`;
  throw new Problem('invalid_format', { detail });
}

async function readTool({ read, definition }: ReadTool, args: ToolArguments, call: ToolCall) {
  const { reader, requester } = call;
  const { given, unknown } = readArguments(read, args);
  refuseFeed(read, given.format);
  const answered = await reader.fetch(reader.parse(read, given), requester);
  const { text, structuredContent } = await render(answered, call);
  const block = { type: 'text', text } as const;
  return {
    content: unknown.length === 0 ? [block] : [block, warnOfIgnored(unknown, definition)],
    structuredContent,
  };
}

/** Renders an answer as text and JSON. Caches the result for as long as the answer itself is cached. */
async function render(answered: AnsweredRead, { reader, results, requester, takeTurn }: ToolCall) {
  const { format = 'markdown' } = answered.parsed;
  const { renderings } = answered.answer;
  const name = nameView(answered, format);
  const cached = results.get(renderings, name);
  if (cached !== undefined) return cached;
  const { span } = requester;
  const sliced = takeTurn === undefined ? { span } : { ...createSlices(takeTurn), span };
  const textOf = async (of: typeof format) =>
    (await reader.represent(answered, of, sliced)).body.toString();
  const [text, json] = [await textOf(format), await textOf('json')];
  const rendered = { text, structuredContent: JSON.parse(json) };
  results.set(renderings, name, rendered, 2 * text.length + bytesPerCharacter * json.length);
  return rendered;
}

/** Estimated maximum memory size of parsed JSON, in bytes per character of the JSON text. */
const bytesPerCharacter = 4;

/** Returns a warning that lists the unknown arguments, which were ignored, and the arguments that the tool takes. */
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
