import { trimEndOf } from '../../../lib/text.ts';

/** Comment without its marks. `line` and `end` are the indexes of its first and next line. */
export type Comment = Readonly<{ line: number; end: number; text: string }>;

const commentLine =
  /^\s*(?:\/\/|#(?!!|\[|include|define|if|endif|\w{1,60}\??(?: ?[=:(;<]))|--|;;|\*(?!\w)|\/\*)/;
const decoration = /^\s*(?:@\w|#\[)/;

export function isComment(line: string): boolean {
  return commentLine.test(line);
}

/** Returns the comment above a line or above its decorators and attributes. */
export function commentAbove(lines: readonly string[], at: number): Comment | undefined {
  const end = firstDecoration(lines, at);
  let line = end;
  while (line > 0 && isComment(lines[line - 1] ?? '')) line -= 1;
  return line === end ? undefined : toComment(lines, line, end);
}

const maxDecorations = 50;

/** Returns the index of the first decorator or attribute above a line; `at` if none. */
export function firstDecoration(lines: readonly string[], at: number): number {
  let first = at;
  const least = Math.max(0, at - maxDecorations);
  while (first > least && decoration.test(lines[first - 1] ?? '')) first -= 1;
  return first;
}

/** Returns the comment or docstring at the start of a file. */
export function commentOfFile(lines: readonly string[]): Comment | undefined {
  const start = lines[0]?.startsWith('#!') ? 1 : 0;
  const quoted = docstringBelow(lines, start - 1);
  if (quoted !== undefined) return quoted;
  let end = start;
  while (end < lines.length && isComment(lines[end] ?? '')) end += 1;
  return end === start ? undefined : toComment(lines, start, end);
}

function toComment(lines: readonly string[], line: number, end: number): Comment {
  const text = lines
    .slice(line, end)
    .map((one) => one.replace(/^\s*(?:\/\*+!?|\*+\/|\*|\/\/[/!]?|#+:?|--|;;+)\s?/, ''))
    .map(withoutCommentEnd)
    .join('\n');
  return { line, end, text };
}

function withoutCommentEnd(line: string): string {
  const shown = line.trimEnd();
  return shown.endsWith('*/') ? trimEndOf(shown.slice(0, -1), '*').trimEnd() : line;
}

const maxSignatureLines = 20;

/** Returns the Python docstring after a declaration, if any. */
export function docstringBelow(lines: readonly string[], at: number): Comment | undefined {
  const start = endOfSignature(lines, at);
  const [mark, quote] = /^\s*[rbu]?("""|''')/.exec(lines[start] ?? '') ?? [];
  if (mark === undefined || quote === undefined) return undefined;
  const opening = (lines[start] ?? '').slice(mark.length);
  if (opening.includes(quote)) {
    return { line: start, end: start + 1, text: opening.slice(0, opening.indexOf(quote)) };
  }
  let end = start + 1;
  while (end < lines.length && !lines[end]?.includes(quote)) end += 1;
  const inner = lines.slice(start + 1, end + 1).map((line) => line.split(quote, 1)[0]?.trim());
  return {
    line: start,
    end: Math.min(end + 1, lines.length),
    text: [opening, ...inner].join('\n'),
  };
}

function endOfSignature(lines: readonly string[], at: number): number {
  if (at < 0) return 0;
  const last = lines
    .slice(at, at + maxSignatureLines)
    .findIndex((line) => /:\s*(?:#|$)/.test(line));
  return at + 1 + Math.max(0, last);
}
