import { trimEndOf } from '../../core/trim-end.ts';
import { toShownText } from './characters.ts';
import { keepNumberSigns } from './escape.ts';

interface Scan {
  readonly lines: string[];
  fence: string | null;
  /** True where code spans of this block cannot be told for certain. */
  isDoubtful: boolean;
  readonly nest: NestHeading;
}

/**
 * Returns foreign Markdown for a page: without HTML, unsafe links and reference definitions, its headings nested, its
 * last fence closed. Code stays as it is where every parser agrees that it is code; in doubt `<` is escaped.
 */
export function cleanMarkdown(markdown: string, nest: NestHeading): string {
  const scan: Scan = { lines: [], fence: null, isDoubtful: false, nest };
  for (const line of toShownText(markdown).split('\n')) cleanLine(scan, line);
  if (scan.fence !== null) scan.lines.push(scan.fence);
  return scan.lines.join('\n').replace(/^\n+/, '').trimEnd();
}

function cleanLine(scan: Scan, line: string): void {
  if (scan.fence !== null) {
    scan.lines.push(line);
    if (closesFence(line, scan.fence)) scan.fence = null;
    return;
  }
  const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
  if (fence !== undefined) openFence(scan, line, fence);
  else cleanTextLine(scan, line);
}

function closesFence(line: string, fence: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return found?.[0] === fence[0] && found !== undefined && found.length >= fence.length;
}

/** Without its indent a fence stands on the page's own level, whatever list is open above it. */
function openFence(scan: Scan, line: string, fence: string): void {
  const last = scan.lines.pop();
  if (last !== undefined) scan.lines.push(last.trimEnd());
  scan.lines.push(line.trim());
  scan.fence = fence;
  scan.isDoubtful = false;
}

function cleanTextLine(scan: Scan, line: string): void {
  if (/^[ \t]*$/.test(line)) {
    const last = scan.lines.pop() ?? '';
    scan.lines.push(...(last === '' ? [] : [last.trimEnd()]), '');
    scan.isDoubtful = false;
    return;
  }
  const cleaned = scan.isDoubtful ? null : cleanAroundCode(line);
  scan.isDoubtful = cleaned === null;
  if (underlinesHeading(scan, line)) return;
  const nested = nestHeading(cleaned ?? cleanInline(line), scan.nest);
  const shown = trimEndOf(nested, ' \t');
  // Two spaces or more at the end of a line are a hard break, which two can write.
  scan.lines.push(nested.length - shown.length < 2 ? shown : `${shown}  `);
}

function nestHeading(line: string, nest: NestHeading): string {
  const marks = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line)?.[1];
  return marks ? writeHeading(nest(marks.length), line.trimStart().slice(marks.length)) : line;
}

const writeHeading = (level: number, text: string) => `${'#'.repeat(level)}${text}`.trimEnd();

/** Takes a line of `=` or `-` below a text (CommonMark 0.31 §4.3). Of a longer paragraph it makes no heading. */
function underlinesHeading({ lines, nest }: Scan, line: string): boolean {
  const mark = /^ {0,3}(=+|-+)[ \t]*$/.exec(line)?.[1]?.[0];
  const before = lines.at(-2);
  const above = lines.at(-1) ?? '';
  if (mark === undefined || above === '') return false;
  if (!before && /^ {0,3}[^\s#>|*+\d-]/.test(above)) {
    const level = nest(mark === '=' ? 1 : 2);
    lines[lines.length - 1] = writeHeading(level, ` ${keepNumberSigns(above.trim())}`);
  } else {
    lines.push(...(mark === '=' ? [''] : ['', '---', '']));
  }
  return true;
}

/** A link whose destination no code span can reach into. */
const plainLink = /\]\([^()`"'<\\\s]*\)/g;

/** Cleans a line except its code spans; `null` if a parser might see others, across lines, links or table cells. */
function cleanAroundCode(line: string): string | null {
  if (/\][([:]/.test(line.replace(plainLink, '')) || hasAddressUpToCode(line)) return null;
  const escapeOrTicks = /\\.|`+/gsu;
  let cleaned = '';
  let start = 0;
  for (let token = escapeOrTicks.exec(line); token; token = escapeOrTicks.exec(line)) {
    if (token[0].startsWith('\\')) continue;
    const end = findCodeEnd(line, escapeOrTicks.lastIndex, token[0].length);
    const code = line.slice(token.index, end);
    if (end === undefined || code.includes('|')) return null;
    cleaned += `${cleanInline(line.slice(start, token.index))}${code}`;
    start = end;
    escapeOrTicks.lastIndex = end;
  }
  return `${cleaned}${cleanInline(line.slice(start))}`;
}

/** Renderers of GitHub's Markdown take a backtick within a bare address for a part of it. */
function hasAddressUpToCode(line: string): boolean {
  return line.split(/\s+/).some((word) => {
    const start = word.search(/www\.|:\/\/|@/i);
    return start >= 0 && word.includes('`', start);
  });
}

function findCodeEnd(line: string, from: number, ticks: number): number | undefined {
  const run = /`+/g;
  run.lastIndex = from;
  for (let found = run.exec(line); found; found = run.exec(line)) {
    if (found[0].length === ticks) return run.lastIndex;
  }
  return undefined;
}

/** Escapes HTML, unsafe links and reference definitions. A backslash before `<` can be the end of an address. */
function cleanInline(text: string): string {
  return text
    .replace(/\\.|<(?!(?:https?:\/\/|mailto:)[^\s<>`]*>)/gis, (found) =>
      found.endsWith('<') ? '&lt;' : found,
    )
    .replace(/(ftp:)(?=\/\/)/gi, '$1\\')
    .replace(/(xmpp)(?=:)/gi, '$1\\')
    .replace(/\]\((?!https?:\/\/|mailto:)/gi, ']\\(')
    .replace(/\]:/g, ']\\:');
}

/** Returns the level on the page of the next heading, from its level in the foreign text. */
export type NestHeading = (level: number) => number;

/** Creates levels for the headings of one text below a heading of level `above`, without gaps. */
export function nestHeadings(above: number): NestHeading {
  const open: number[] = [];
  return (level) => {
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    return Math.min(above + open.length, 6);
  };
}
