import { isSpace, toCharacters, toLine } from './characters.ts';
import {
  delimiters,
  type EscapeContext,
  escapeBlockStart,
  escapeCharacters,
  findHazards,
  keepNumberSigns,
  plainContext,
} from './escape.ts';
import { joinLines } from './layout.ts';
import { toAutolink, toDestination } from './links.ts';
import {
  createNeighbours,
  isAtom,
  isWordwise,
  type Mark,
  type Neighbours,
  type Span,
  settleSpans,
  toSpans,
} from './spans.ts';

/**
 * Gives a text with its marks as Markdown: lines end in hard breaks, empty lines part paragraphs,
 * spaces at the start of a line become no-break spaces, bare URLs become links.
 */
export function renderText(text: string, marks: readonly Mark[]): string {
  return renderBeside(text, marks, []);
}

/**
 * Returns a text as Markdown on one line, with bare URLs as links. Nothing in it pairs with what is
 * beside it in the same paragraph.
 */
export function renderLine(text: string): string {
  return renderBeside(toLine(text), [], delimiters);
}

function renderBeside(text: string, marks: readonly Mark[], beside: readonly string[]): string {
  const source = toCharacters(text);
  const lines = settleLines(source.characters, toSpans(source, marks));
  const hazards = new Set([...hazardsOf(source.characters, lines), ...beside]);
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.characters.length > 0) paragraphs.at(-1)?.push(writeLine(line, hazards));
    else if (paragraphs.at(-1)?.length !== 0) paragraphs.push([]);
  }
  return paragraphs
    .filter((paragraph) => paragraph.length > 0)
    .map(joinLines)
    .join('\n\n');
}

/** Gives a text with its marks as the content of a heading: one line. */
export function renderHeading(text: string, marks: readonly Mark[]): string {
  // One character for one character, because the marks count them.
  const line = renderText(text.replace(/[\r\n\v\f\u0085\u2028\u2029]/g, ' '), marks);
  return keepNumberSigns(line.replace(/^\u00a0+/, ''));
}

interface LineRange {
  readonly start: number;
  readonly end: number;
  /** Spaces at the start of the line, a tab counted as four. */
  readonly indent: number;
}

function toLines(characters: readonly string[]): LineRange[] {
  const lines: LineRange[] = [];
  for (let start = 0; start <= characters.length; ) {
    const found = characters.indexOf('\n', start);
    const end = found === -1 ? characters.length : found;
    lines.push(trimLine(characters, start, end));
    start = end + 1;
  }
  return lines;
}

function trimLine(characters: readonly string[], from: number, to: number): LineRange {
  let [start, end, indent] = [from, to, 0];
  while (end > start && isSpace(characters[end - 1])) end -= 1;
  for (; start < end && isSpace(characters[start]); start += 1) {
    indent += characters[start] === '\t' ? 4 : 1;
  }
  return { start, end, indent };
}

/** A line without the spaces around it, and its spans as they can be written. */
interface Line extends LineRange {
  readonly characters: readonly string[];
  /** Offsets count from the line's start. */
  readonly spans: readonly Span[];
}

function settleLines(all: readonly string[], spans: readonly Span[]): Line[] {
  let ahead = 0;
  let open: readonly Span[] = [];
  return toLines(all).map(({ start, end, indent }) => {
    const from = ahead;
    while ((spans[ahead]?.start ?? all.length) < end) ahead += 1;
    if (open.length > 0 || ahead > from) {
      open = [...open, ...spans.slice(from, ahead)].filter((span) => span.end > start);
    }
    const characters = all.slice(start, end);
    if (open.length === 0) return { start, end, indent, characters, spans: [] };
    const clipped = open.flatMap((span) => clip(span, { start, end, indent }) ?? []);
    return { start, end, indent, characters, spans: settleSpans(clipped, characters) };
  });
}

function clip(span: Span, line: LineRange): Span | null {
  const start = Math.max(span.start, line.start) - line.start;
  const end = Math.min(span.end, line.end) - line.start;
  return start < end ? { ...span, start, end } : null;
}

function writeLine(line: Line, hazards: ReadonlySet<string>): string {
  return `${'\u00a0'.repeat(line.indent)}${writeSpans(escapeLine(line, hazards), line)}`;
}

function escapeLine(
  { characters, spans, indent }: Line,
  hazards: ReadonlySet<string>,
): readonly string[] {
  const place = spans.length === 0 ? plainContext : contextOf(spans, characters.length);
  const written = escapeCharacters(characters, { ...place, hazards });
  return indent > 0 ? written : escapeBlockStart(characters, written);
}

function contextOf(spans: readonly Span[], length: number): Omit<EscapeContext, 'hazards'> {
  const links = spans.filter((span) => span.kind === 'link');
  const linked = new Uint8Array(length);
  for (const { start, end } of links) linked.fill(1, start, end);
  return {
    borders: new Set(spans.flatMap((span) => [span.start, span.end])),
    linkStarts: new Set(links.map((span) => span.start)),
    isLinked: (offset) => linked[offset] === 1,
  };
}

/** Gives what must be escaped in a text: what pairs up, and what its own markers consist of. */
function hazardsOf(characters: readonly string[], lines: readonly Line[]): ReadonlySet<string> {
  const borders = new Set<number>();
  const kinds = new Set<Span['kind']>();
  for (const line of lines) {
    for (const { start, end, kind } of line.spans) {
      borders.add(line.start + start).add(line.start + end);
      kinds.add(kind);
    }
  }
  const found = findHazards(characters, borders);
  return new Set([...found, ...[...kinds].flatMap((kind) => [...markersOf[kind]])]);
}

const markersOf: Readonly<Record<Span['kind'], string>> = {
  bold: '*_',
  italic: '*_',
  strikethrough: '~',
  code: '`',
  link: '',
  autolink: '',
};

/** Puts the markers of the spans between the escaped characters of a line. */
function writeSpans(escaped: readonly string[], line: Line): string {
  if (line.spans.length === 0) return escaped.join('');
  const written = [...escaped, ''];
  const opening = written.map(() => '');
  const closing = written.map(() => '');
  const neighbours = createNeighbours(line);
  for (const span of line.spans) {
    const { start, end } = span;
    if (isAtom(span)) {
      written.fill('', start, end);
      written[start] = writeAtom(span, line.characters);
      continue;
    }
    const [open, close] = markersFor(span, neighbours);
    opening[start] = `${opening[start]}${open}`;
    closing[end] = `${close}${closing[end]}`;
  }
  return written.map((text, at) => `${closing[at]}${opening[at]}${text}`).join('');
}

function markersFor(span: Span, line: Neighbours): readonly [string, string] {
  switch (span.kind) {
    case 'bold':
      return ['**', '**'];
    case 'strikethrough':
      return ['~~', '~~'];
    case 'italic':
      return isWordwise(span, line) ? ['_', '_'] : ['*', '*'];
    case 'link':
      return ['[', `](${toDestination(span.url)})`];
    case 'autolink':
    case 'code':
      return ['', ''];
  }
}

function writeAtom(span: Span, characters: readonly string[]): string {
  const visible = characters.slice(span.start, span.end).join('');
  return span.kind === 'autolink' ? (toAutolink(span.url) ?? '') : codeSpan(visible);
}

/** Gives code between backticks, more of them than the code has in a row (CommonMark §6.1). */
function codeSpan(code: string): string {
  const runs = new Set((code.match(/`+/g) ?? []).map((run) => run.length));
  let length = 1;
  while (runs.has(length)) length += 1;
  const fence = '`'.repeat(length);
  const pad = code.startsWith('`') || code.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${code}${pad}${fence}`;
}
