import type { Segment } from './segments.ts';

/** Matches the end of a sentence, paragraph or line, except after abbreviations such as “e.g.”. */
const ends =
  /(?<!\b(?:e\.g|i\.e|etc|vs|cf|no))[.!?]["'”’)*_]{0,4}(?:\s+(?!\p{Ll}|\s)|\s+$)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]|\||#|>))/gu;
const itemMark = /^[ \t]*(?:[-*+>]|\d{1,9}[.)]|\|)[ \t]+/;
const tableRule = /^[ \t]*\|[ \t:|-]+$/;

/** Returns the last sentence, item, row or code block, with its list mark or table header. */
export function lastSentence(segments: readonly Segment[]): string {
  const text = segments.map((segment) => segment.text).join('');
  const start = startOfLast(segments, text.trimEnd().length);
  const dropped = text.slice(0, start);
  const lines = dropped.split('\n');
  const mark = itemMark.exec(lines.at(-1) ?? '')?.[0] ?? '';
  return gapAfter(dropped, lines) + tableHeader(lines.slice(0, -1)) + mark + text.slice(start);
}

function tableHeader(lines: readonly string[]): string {
  const isRow = (line: string) => line.trimStart().startsWith('|');
  const first = lines.findLastIndex((line) => !isRow(line)) + 1;
  const [header = '', rule = ''] = lines.slice(first);
  return tableRule.test(rule) ? `${header}\n${rule}\n` : '';
}

function gapAfter(dropped: string, lines: readonly string[]): string {
  if (lines.length === 1) return /\s$/.test(dropped) ? ' ' : '';
  return lines.slice(0, -1).at(-1)?.trim() === '' && lines.length > 2 ? '\n\n' : '\n';
}

function startOfLast(segments: readonly Segment[], end: number): number {
  let start = 0;
  let at = 0;
  const begin = (offset: number) => {
    if (offset < end) start = offset;
  };
  for (const { kind, text } of segments) {
    if (kind === 'block') begin(at);
    if (kind === 'words')
      for (const { 0: found, index } of text.matchAll(ends)) begin(at + index + found.length);
    at += text.length;
    if (kind === 'block') begin(at);
  }
  return start;
}
