import { type ReadFile, SectionBuilder } from './section.ts';

/** Parses plain text into paragraphs. Underlined lines are headings. */
export function readPlainText(text: string): ReadFile {
  return readLines(text, findUnderlined);
}

/** Heading in a text file. `lines` is the number of lines of the heading, including underlines. */
export type FoundHeading = Readonly<{
  level: number;
  text: string;
  lines: number;
  defines?: readonly string[];
}>;

type FindHeading = (lines: readonly string[], at: number) => FoundHeading | undefined;

/** Parses paragraphs, list items, indented blocks and the headings that `find` recognizes. */
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
      sections.define(heading.defines ?? []);
      at += heading.lines;
      continue;
    }
    const end = endOfBlock(lines, at, find);
    sections.add({ ...toBlock(lines.slice(at, end)), line: at + 1, endLine: end });
    at = end;
  }
  return sections.finish(title, text);
}

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
    const text = lines.map((line) => line.replace(/^(?: {4}|\t)/, '')).join('\n');
    return { kind: 'code', text } as const;
  }
  const text = lines.map((line) => line.trim()).join(' ');
  const isItem = item.test(first);
  return { kind: isItem ? 'item' : 'text', text: isItem ? text.replace(item, '') : text } as const;
}

function findUnderlined(lines: readonly string[], at: number): FoundHeading | undefined {
  const text = lines[at]?.trim() ?? '';
  const under = lines[at + 1]?.trimEnd() ?? '';
  if (text === '' || text.length > 120 || !/^(?:={3,}|-{3,})$/.test(under)) return undefined;
  return { level: under.startsWith('=') ? 1 : 2, text, lines: 2 };
}
