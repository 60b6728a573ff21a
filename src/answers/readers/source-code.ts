import { trimEndOf } from '../../core/trim-end.ts';
import { countLines, type ReadFile, SectionBuilder } from './section.ts';

/**
 * Parses source code into sections: the first comment of the file, and each declaration with its
 * comment and its first lines.
 */
export function readSourceCode(text: string): ReadFile {
  const lines = text.split('\n');
  const sections = new SectionBuilder();
  addComment(sections, commentFrom(lines, 0));
  for (let at = 0; at < lines.length; at += 1) {
    const name = declaredName(lines[at] ?? '');
    if (name === undefined) continue;
    const above = commentAbove(lines, at);
    sections.startSection({ level: 2, text: name, line: (above?.line ?? at) + 1 });
    addComment(sections, above ?? docstringBelow(lines, at));
    const end = endOfSignature(lines, at);
    const signature = lines.slice(at, end).join('\n');
    sections.add({ kind: 'code', text: signature, line: at + 1, endLine: end });
  }
  return sections.finish('', text);
}

/** Maximum number of lines of a declaration to quote. */
const maxSignatureLines = 12;

/**
 * Regular expressions that match declarations at the start of a line. Declarations with `pub`, `public` or `def` may
 * be indented by one level. Callers must first replace each run of spaces after the indentation by one space.
 */
const declarations: readonly RegExp[] = [
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|enum|const|let|var|namespace) ([\w$]+)/,
  /^(?:async )?(?:function\*?|class) ([\w$]+)/,
  /^(?:module\.)?exports\.([\w$]+) ?=/,
  /^[\w$.]+\.prototype\.([\w$]+) ?=/,
  /^(?: {4})?(?:async )?def (\w+)/,
  /^func (?:\([^)]{0,100}\) ?)?(\w+)/,
  /^type (\w+) (?:struct|interface|func)/,
  /^\s{0,4}pub(?:\([^)]{0,40}\))? (?:async |unsafe |const )*(?:fn|struct|enum|trait|mod|const|static|type) (\w+)/,
  /^\s{0,4}(?:public|protected|internal|open) (?:[\w<>[\],.?]+ ){0,6}?(?:class |interface |enum |record |struct |fun |func |void |static |final )?([A-Za-z_]\w*) ?[({<:]/,
  /^(?:module|def|class) (?:self\.)?([\w:]+)/,
];

function declaredName(line: string): string | undefined {
  if (line.length > 400 || !/^\s{0,4}[A-Za-z]/.test(line)) return undefined;
  const start = line.length - line.trimStart().length;
  const spaced = line.slice(0, start) + line.slice(start).replaceAll(/\s+/g, ' ');
  return declarations.find((form) => form.test(spaced))?.exec(spaced)?.[1];
}

type Comment = Readonly<{ line: number; text: string }>;

const commentLine = /^\s*(?:\/\/|#(?!!|\[|include|define|if|endif)|--|;;|\*|\/\*)/;
const decoration = /^\s*(?:@\w|#\[)/;

/**
 * Returns the comment directly above a line; decorators and attributes may be between the comment
 * and the line. Returns `undefined` if there is no comment.
 */
function commentAbove(lines: readonly string[], at: number): Comment | undefined {
  let end = at;
  while (end > 0 && decoration.test(lines[end - 1] ?? '')) end -= 1;
  let line = end;
  while (line > 0 && commentLine.test(lines[line - 1] ?? '')) line -= 1;
  return line === end ? undefined : toComment(lines, line, end);
}

function commentFrom(lines: readonly string[], at: number): Comment | undefined {
  const start = lines[at]?.startsWith('#!') ? at + 1 : at;
  const quoted = docstringBelow(lines, start - 1);
  if (quoted !== undefined) return quoted;
  let end = start;
  while (end < lines.length && commentLine.test(lines[end] ?? '')) end += 1;
  return end === start ? undefined : toComment(lines, start, end);
}

function toComment(lines: readonly string[], line: number, end: number): Comment {
  const text = lines
    .slice(line, end)
    .map((one) => one.replace(/^\s*(?:\/\*+!?|\*+\/|\*|\/\/[/!]?|#+|--|;;+)\s?/, ''))
    .map(withoutCommentEnd)
    .join('\n');
  return { line, text };
}

function withoutCommentEnd(line: string): string {
  const shown = line.trimEnd();
  return shown.endsWith('*/') ? trimEndOf(shown.slice(0, -1), '*').trimEnd() : line;
}

/** Returns the triple-quoted string (Python docstring) after a declaration; `undefined` if there is none. */
function docstringBelow(lines: readonly string[], at: number): Comment | undefined {
  const start = [at + 1, at + 2, at + 3].find((line) =>
    /^\s*[rbu]?("""|''')/.test(lines[line] ?? ''),
  );
  if (start === undefined) return undefined;
  if (start > at + 1 && !/[:(,]\s*$/.test(lines[at] ?? '')) return undefined;
  const quote = lines[start]?.includes('"""') ? '"""' : "'''";
  const opening = (lines[start] ?? '').replace(/^\s*[rbu]?(?:"""|''')/, '');
  if (opening.includes(quote)) {
    return { line: start, text: opening.slice(0, opening.indexOf(quote)) };
  }
  let end = start + 1;
  while (end < lines.length && !lines[end]?.includes(quote)) end += 1;
  const inner = lines.slice(start + 1, end + 1).map((line) => line.split(quote, 1)[0]?.trim());
  return { line: start, text: [opening, ...inner].join('\n') };
}

function addComment(sections: SectionBuilder, comment: Comment | undefined): void {
  if (comment === undefined) return;
  let line = comment.line;
  for (const paragraph of comment.text.split(/\n[ \t]*\n/)) {
    const lines = countLines(paragraph);
    const text = paragraph.replaceAll(/\s+/g, ' ').trim();
    sections.add({ kind: 'text', text, line: line + 1, endLine: line + lines });
    line += lines + 1;
  }
}

function endOfSignature(lines: readonly string[], at: number): number {
  const following = lines.slice(at + 1, at + maxSignatureLines);
  const stop = following.findIndex(
    (line) => line.trim() === '' || declaredName(line) !== undefined,
  );
  return at + 1 + (stop < 0 ? following.length : stop);
}
