import { countLines, type ReadFile, SectionBuilder } from './section.ts';

/** Reads text without marks: paragraphs, and lines that are underlined as headings. */
export function readPlainText(text: string): ReadFile {
  return readLines(text, findUnderlined);
}

/** A heading that begins at a line. */
export interface FoundHeading {
  readonly level: number;
  readonly text: string;
  /** How many lines it takes, with what underlines it. */
  readonly lines: number;
}

/** Says whether a heading begins at a line, counted from 0. */
export type FindHeading = (lines: readonly string[], at: number) => FoundHeading | undefined;

/** Reads paragraphs, list items and indented blocks, with headings as `find` sees them. */
export function readLines(text: string, find: FindHeading): ReadFile {
  const lines = text.split('\n');
  const sections = new SectionBuilder();
  let title = '';
  let at = 0;
  while (at < lines.length) {
    const heading = find(lines, at);
    if (heading !== undefined) {
      title ||= heading.text;
      sections.startSection({ ...heading, line: at + 1 });
      at += heading.lines;
      continue;
    }
    const end = endOfBlock(lines, at, find);
    sections.add({ ...toBlock(lines.slice(at, end)), line: at + 1, endLine: end });
    at = end;
  }
  return { title, sections: sections.finish(countLines(text)) };
}

/** A block ends at a blank line, a heading or the next list item; an indented one where the indent ends. */
function endOfBlock(lines: readonly string[], start: number, find: FindHeading): number {
  if (isBlank(lines[start])) return start + 1;
  if (isIndented(lines[start])) return endOfIndented(lines, start);
  let end = start + 1;
  while (end < lines.length && !isBlank(lines[end]) && !item.test(lines[end] ?? '')) {
    if (find(lines, end) !== undefined) break;
    end += 1;
  }
  return end;
}

function endOfIndented(lines: readonly string[], start: number): number {
  let end = start + 1;
  while (end < lines.length && (isBlank(lines[end]) || isIndented(lines[end]))) end += 1;
  while (isBlank(lines[end - 1])) end -= 1;
  return end;
}

const item = /^\s{0,3}(?:[-*+•]|\d{1,3}[.)]|:[\w ]+:)\s/;
const isBlank = (line: string | undefined) => line !== undefined && line.trim() === '';
const isIndented = (line = '') => /^(?: {4}|\t)/.test(line);

function toBlock(lines: readonly string[]) {
  const [first = ''] = lines;
  if (isIndented(first)) {
    return {
      kind: 'code',
      text: lines.map((line) => line.replace(/^(?: {4}|\t)/, '')).join('\n'),
    } as const;
  }
  const text = lines.map((line) => line.trim()).join(' ');
  return item.test(first)
    ? ({ kind: 'item', text: text.replace(item, '') } as const)
    : ({ kind: 'text', text } as const);
}

/** `====` under a line is a heading of level 1, `----` one of level 2. */
function findUnderlined(lines: readonly string[], at: number): FoundHeading | undefined {
  const text = lines[at]?.trim() ?? '';
  const under = lines[at + 1]?.trimEnd() ?? '';
  if (text === '' || text.length > 120 || !/^(?:={3,}|-{3,})$/.test(under)) return undefined;
  return { level: under.startsWith('=') ? 1 : 2, text, lines: 2 };
}
