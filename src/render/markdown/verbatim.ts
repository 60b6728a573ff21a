import { trimEndOf } from '../../lib/text.ts';
import { toVisibleText } from './characters.ts';
import { keepNumberSigns } from './escape.ts';
import { escapeNoteSyntax, isInlineQuery, separateTemplates, toPlainLanguage } from './layout.ts';

interface Scan {
  readonly lines: string[];
  fence: string | null;
  /** Whether Markdown parsers may disagree on what is code in the current block. */
  isDoubtful: boolean;
  readonly nest: NestHeading;
}

/**
 * Sanitizes Markdown from a platform: escapes HTML, unsafe links, reference definitions and syntax
 * of note apps, closes an open code block, and converts heading levels with `nest`. Keeps code if
 * all parsers agree on it and no note app would run it.
 */
export function cleanMarkdown(markdown: string, nest: NestHeading): string {
  const scan: Scan = { lines: [], fence: null, isDoubtful: false, nest };
  for (const line of toVisibleText(markdown).split('\n')) cleanLine(scan, line);
  if (scan.fence !== null) scan.lines.push(scan.fence);
  return scan.lines.join('\n').replace(/^\n+/, '').trimEnd();
}

function cleanLine(scan: Scan, line: string): void {
  if (scan.fence !== null) {
    scan.lines.push(separateTemplates(line));
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

/** Starts a code block. Removes the fence's indent: it must not belong to a preceding list. */
function openFence(scan: Scan, line: string, fence: string): void {
  const last = scan.lines.pop();
  if (last !== undefined) scan.lines.push(last.trimEnd());
  scan.lines.push(`${fence}${toPlainLanguage(line.trim().slice(fence.length))}`);
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
  // Two or more spaces at the end of a line are a hard break.
  scan.lines.push(nested.length - shown.length < 2 ? shown : `${shown}  `);
}

function nestHeading(line: string, nest: NestHeading): string {
  const hashes = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line)?.[1];
  return hashes ? writeHeading(nest(hashes.length), line.trimStart().slice(hashes.length)) : line;
}

const writeHeading = (level: number, text: string) => `${'#'.repeat(level)}${text}`.trimEnd();

/**
 * Returns whether `line` looks like the underline of a heading (CommonMark 0.31 §4.3); the caller
 * must then omit it. Rewrites the last line in `lines` with `#`, or separates a heading that may
 * have several lines or other markup.
 */
function underlinesHeading({ lines, nest }: Scan, line: string): boolean {
  const underline = /^ {0,3}(=+|-+)[ \t]*$/.exec(line)?.[1]?.[0];
  const before = lines.at(-2);
  const above = lines.at(-1) ?? '';
  if (underline === undefined || above === '') return false;
  if (!before && /^ {0,3}[^\s#>|*+\d-]/.test(above)) {
    const level = nest(underline === '=' ? 1 : 2);
    lines[lines.length - 1] = writeHeading(level, ` ${keepNumberSigns(above.trim())}`);
  } else {
    lines.push(...(underline === '=' ? [''] : ['', '---', '']));
  }
  return true;
}

const plainLink = /\]\([^()`"'<\\\s]*\)/g;

function cleanAroundCode(line: string): string | null {
  if (/\][([:]/.test(line.replace(plainLink, '')) || hasAddressUpToCode(line)) return null;
  const escapeOrTicks = /\\.|`+/gsu;
  let cleaned = '';
  let start = 0;
  for (let token = escapeOrTicks.exec(line); token; token = escapeOrTicks.exec(line)) {
    if (token[0].startsWith('\\')) continue;
    const end = findCodeEnd(line, escapeOrTicks.lastIndex, token[0].length);
    const code = line.slice(token.index, end);
    const isRun = isInlineQuery(code.slice(token[0].length));
    if (end === undefined || isRun || code.includes('|')) return null;
    cleaned += `${cleanInline(line.slice(start, token.index))}${separateTemplates(code)}`;
    start = end;
    escapeOrTicks.lastIndex = end;
  }
  return `${cleaned}${cleanInline(line.slice(start))}`;
}

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

/** Escapes unsafe syntax. `<` becomes `&lt;`, because `\<` after a URL is ambiguous. */
function cleanInline(text: string): string {
  return escapeNoteSyntax(text)
    .replace(/\\.|<(?!(?:https?:\/\/|mailto:)[^\s<>`]*>)/gis, (found) =>
      found.endsWith('<') ? '&lt;' : found,
    )
    .replace(/(ftp:)(?=\/\/)/gi, '$1\\')
    .replace(/(xmpp)(?=:)/gi, '$1\\')
    .replace(/\]\((?!https?:\/\/|mailto:)/gi, ']\\(')
    .replace(/\]:/g, ']\\:');
}

/** Converter of heading levels to those on the page. Call it once per heading, in order. */
export type NestHeading = (level: number) => number;

/** Creates a function that maps heading levels to deeper ones than `above`, with no gaps. */
export function nestHeadings(above: number): NestHeading {
  const open: number[] = [];
  return (level) => {
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    return Math.min(above + open.length, 6);
  };
}
