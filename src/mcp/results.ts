import { Problem, toProblemDocument } from '../core/problem.ts';
import { createSlices } from '../core/scheduling/slices.ts';
import type { Requester } from '../fetching/cost.ts';
import type { RenderingCache } from '../fetching/plan.ts';
import { findCorrection } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import type { ParsedRead, PlanContext, Read } from '../reads/read.ts';
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

/** Result of a tool call as text and JSON. The object is cached and shared between calls, so do not modify it. */
export type RenderedResult = Readonly<{ text: string; structuredContent: Record<string, unknown> }>;

interface ToolCall {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly results: RenderingCache<RenderedResult>;
  readonly requester: Requester;
  /** Lets other requests run between two steps of a long rendering. If `undefined`, a rendering runs without pauses. */
  readonly takeTurn: (() => Promise<void>) | undefined;
  /** Called with each unexpected error. The MCP client receives no details of the error. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Calls a tool. The text of the result is the HTTP response body for the same parameters. The structured content is
 * the same response in JSON. Returns errors as problem documents (RFC 9457). Throws only after a disconnect.
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
 * Checks the arguments of a tool call and returns two groups. `given`: all arguments that are not `null`, including
 * unknown ones. `unknown`: names of arguments that the tool does not have. Probable misspellings of known arguments are
 * not in `unknown`, because the read operation warns about them.
 * @throws Problem if the value of an argument is a list
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

async function readTool(
  { read, definition, defaults }: ReadTool,
  args: ToolArguments,
  call: ToolCall,
) {
  const { reader, requester } = call;
  const { given, unknown } = readArguments(read, args);
  const parsed = reader.parse(read, { ...defaults, ...given });
  refuseFormat(parsed, definition);
  const answered = await reader.fetch(parsed, requester);
  const { text, structuredContent } = await render(answered, call);
  const block = { type: 'text', text } as const;
  return {
    content: unknown.length === 0 ? [block] : [block, warnOfIgnored(unknown, definition)],
    structuredContent,
  };
}

/**
 * Checks that the tool supports the requested format, because tools have fewer formats than HTTP.
 * @throws Problem `invalid_format` if the tool does not support the format
 */
function refuseFormat({ format }: ParsedRead, { inputSchema }: ReadTool['definition']): void {
  const offered = inputSchema.properties.format?.enum;
  if (format === undefined || !Array.isArray(offered) || offered.includes(format)) return;
  const words = offered.map((word) => `\`${word}\``).join(' or ');
  const detail = `The parameter \`format\` has the value “${format}”. In a tool call, it must be ${words}.`;
  throw new Problem('invalid_format', { detail });
}

/**
 * Renders the result of a read operation as text and JSON. The text and the JSON are cached
 * together with the fetched data.
 */
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

/** Estimated maximum size of parsed JSON in memory, in bytes per character of the JSON text. */
const bytesPerCharacter = 4;

/** Returns a warning that lists the unknown arguments, which were ignored, and the arguments that the tool accepts. */
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
