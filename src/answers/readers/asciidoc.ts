import { type FoundHeading, readLines } from './plain-text.ts';
import { type ReadFile, toRowText } from './section.ts';

/** Parses headings, lists, tables, admonitions, attributes and code blocks into sections. */
export function readAsciiDoc(text: string): ReadFile {
  const headings = new Map<number, FoundHeading>();
  const state: State = { delimiter: undefined };
  const lines = text.split('\n').map((line, at) => {
    const [, marks = '', title = ''] = /^(={1,6}|#{1,6}) +(\S.*)$/.exec(line) ?? [];
    if (title === '' || state.delimiter !== undefined) return toMarkdownLine(line, state);
    headings.set(at, { level: marks.length, text: replaceInline(title).trimEnd(), lines: 1 });
    return line;
  });
  return readLines(lines.join('\n'), (_, at) => headings.get(at));
}

interface State {
  /** Line that ends the current table, code, comment or raw text; `undefined` outside. */
  delimiter: string | undefined;
}

const delimiter = /^(?:-{4,}|\.{4,}|\/{4,}|\+{4,}|`{3}.*|[|,:!]===)$/;
const markup = /^(?:={4,}|\*{4,}|_{4,}|--|\+|\[.*\]|\/\/(?!\/).*)$/;
const blockMacro = /^[a-z]{1,20}::[^\s[]{0,500}\[/;

function toMarkdownLine(source: string, state: State): string {
  const line = source.trimEnd();
  if (state.delimiter !== undefined) return toBlockLine(line, state.delimiter, state);
  if (delimiter.test(line)) {
    state.delimiter = line.startsWith('`') ? '```' : line;
    return '';
  }
  return markup.test(line) || blockMacro.test(line) ? '' : replaceInline(toItem(line));
}

function toBlockLine(line: string, ending: string, state: State): string {
  if (line === ending) state.delimiter = undefined;
  if (line === ending || /^[/+]/.test(ending)) return '';
  return ending.endsWith('===') ? toRow(line) : `    ${line}`;
}

function toRow(line: string): string {
  const cells = line.split('|').slice(1);
  const shown = cells.map((cell) => replaceInline(cell.trim())).filter((cell) => cell !== '');
  return shown.length === 0 ? replaceInline(line) : `- ${toRowText(shown)}`;
}

function toItem(line: string): string {
  const [, attribute, value] = /^:!?([\w-]{1,80})!?:(?: +(\S.*))?$/.exec(line) ?? [];
  if (attribute !== undefined) return value === undefined ? '' : `- \`${attribute}\`: ${value}`;
  const [, title] = /^\.([^\s.].*)$/.exec(line) ?? [];
  if (title !== undefined) return `${title}:`;
  const [, item] = /^\s*(?:\*{1,5}|\.{1,5}|-|\d{1,3}\.) +(\S.*)$/.exec(line) ?? [];
  if (item !== undefined) return `- ${item}`;
  const [, term, rest = ''] =
    /^([^\s:/][^:]{0,200}(?::[^:]{1,100})?)::(?: +(\S.*))?$/.exec(line) ?? [];
  return term === undefined ? line : `- ${term}: ${rest}`;
}

function replaceInline(line: string): string {
  return line
    .replaceAll(/(?:xref:|link:|https?:\/\/)[^\s[\]]{1,500}\[([^[\]]{1,300})\]/g, '$1')
    .replaceAll(/<<[^<>,]{1,200}, ?([^<>]{1,200})>>/g, '$1')
    .replaceAll(/`\+([^`+]{1,300})\+`/g, '`$1`')
    .replaceAll(/(?<![\w+])\+([^\s+][^+]{0,100})\+(?![\w+])/g, '`$1`');
}
