import type { Requester } from '../fetching/cost.ts';
import { Problem, toProblemDocument } from '../lib/problem.ts';
import { findCorrection, isOfOtherRead } from '../reads/misspelt.ts';
import { faultOf } from '../reads/parameters.ts';
import { addWarnings, type ParsedRead, type PlanContext, type Read } from '../reads/read.ts';
import type { AnsweredRead, Reader } from '../reads/run.ts';
import type { ReadTool } from './tools.ts';

type ToolArguments = Readonly<Record<string, unknown>>;

interface ToolResult {
  readonly content: [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly [member: string]: unknown;
}

interface ToolCall {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly requester: Requester;
  /** Waits for the client's turn before a rendering. `undefined`: no wait. */
  readonly takeTurn: (() => Promise<void>) | undefined;
  /** Called with each unexpected error. The MCP client receives no details of the error. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Returns one text: the HTTP response body for the same parameters. Only JSON results have
 * structured content too, because many clients show a model either of them. Errors are problem
 * documents (RFC 9457) in both. Throws only after a disconnect.
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

const maxCompared = 50;

/**
 * Ignores `null` and empty text, which many models send for omitted arguments. `unknown` omits
 * probable misspellings, which the read operation reports.
 * @throws Problem if the value of an argument is a list
 */
function readArguments({ params: { shape } }: Read, args: ToolArguments) {
  const entries = Object.entries(args).filter(([, value]) => value !== null && value !== '');
  const names = Object.keys(shape);
  const list = names.find((name) => Array.isArray(args[name]));
  if (list !== undefined) {
    const { code, accepts } = faultOf(shape[list]);
    const detail = `The parameter \`${list}\` is a list. It takes ${accepts}.`;
    throw new Problem(code, { detail, param: list });
  }
  const others = entries.map(([name]) => name).filter((name) => !Object.hasOwn(shape, name));
  return {
    given: Object.fromEntries(entries),
    unknown: others.filter(
      (name, at) =>
        at >= maxCompared || !(isOfOtherRead(name) || findCorrection(name, names) !== undefined),
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
  const parsed = addWarnings(
    reader.parse(read, { ...defaults, ...given }),
    warnAboutUnknown(unknown, definition),
  );
  refuseFormat(parsed, definition);
  return render(await reader.fetch(parsed, requester), call);
}

/** Checks the format: tools have fewer than HTTP. @throws Problem `invalid_format` */
function refuseFormat({ format }: ParsedRead, { inputSchema }: ReadTool['definition']): void {
  const offered = inputSchema.properties.format?.enum;
  if (format === undefined || !Array.isArray(offered) || offered.includes(format)) return;
  const words = offered.map((word) => `\`${word}\``).join(' or ');
  const detail = `The parameter \`format\` has the value “${format}”. In a tool call, it must be ${words}.`;
  throw new Problem('invalid_format', { detail });
}

async function render(answered: AnsweredRead, call: ToolCall): Promise<ToolResult> {
  const { reader, requester, takeTurn } = call;
  const { format = 'markdown' } = answered.parsed;
  await takeTurn?.();
  const rendered = await reader.represent(
    answered,
    format === 'json' ? 'data' : format,
    requester.span,
  );
  const text = rendered.body.toString();
  if (format !== 'json') return toText(text);
  return { ...toText(text.trimEnd()), structuredContent: JSON.parse(text) };
}

const toText = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

function warnAboutUnknown(
  unknown: readonly string[],
  { name, inputSchema: { properties } }: ReadTool['definition'],
): readonly string[] {
  if (unknown.length === 0) return [];
  const shown = unknown.slice(0, 5).map((one) => JSON.stringify(one.slice(0, 80)));
  const more = unknown.length > shown.length ? ' and more' : '';
  const accepted = Object.keys(properties).join(', ');
  return [`Ignored: ${shown.join(', ')}${more}. The tool ${name} takes ${accepted}.`];
}

function toFailure(problem: Problem, { context: { baseUrl } }: ToolCall): ToolResult {
  const document = toProblemDocument(problem, { baseUrl });
  const { title, detail, code, resolution, retry_after: retryAfter } = document;
  const lines = [`${title}. ${detail}`, '', `code: ${code}`, `resolution: ${resolution}`];
  if (retryAfter !== undefined) lines.push(`retry_after: ${retryAfter}`);
  return { ...toText(lines.join('\n')), structuredContent: { ...document }, isError: true };
}
