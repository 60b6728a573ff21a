import { toCharacters, toLine } from './characters.ts';
import {
  delimiters,
  escapeBlockStart,
  escapeCharacters,
  findHazards,
  keepNumberSigns,
} from './escape.ts';
import { isInlineQuery, joinBlocks, joinLines, listItem, separateTemplates } from './layout.ts';
import { toAutolink, toDestination } from './links.ts';
import {
  type Annotation,
  clipSpans,
  findNeighbours,
  fitSpans,
  insertMarkers,
  isAtWordBoundaries,
  isLeaf,
  type Span,
  splitLines,
  toSpans,
  trimRange,
} from './spans.ts';

/** Renders text as one line. Escapes all delimiters; bare URLs become links. */
export const renderLine = (text: string): string => renderText(toLine(text), [], delimiters);

/** Renders a section of warnings; returns `null` if there are none. */
export function renderNotes(warnings: readonly string[]): string | null {
  if (warnings.length === 0) return null;
  const items = warnings.map((warning) => listItem(renderLine(warning)));
  return joinBlocks(['---', '**Notes**', items.join('\n')]);
}

/** Renders annotated text as the content of a heading, on one line. */
export function renderHeading(text: string, annotations: readonly Annotation[]): string {
  // Replaces each line end with one space, because the offsets of annotations count characters.
  const line = renderText(text.replace(/[\r\n\v\f\u0085\u2028\u2029]/g, ' '), annotations);
  return keepNumberSigns(line.replace(/^\u00a0+/, ''));
}

/** Renders annotated text, with hard breaks, no-break indents and linked bare URLs. */
export function renderText(
  text: string,
  annotations: readonly Annotation[],
  extraHazards: readonly string[] = [],
): string {
  const source = toCharacters(text);
  const lines = toLines(source.characters, toSpans(source, annotations));
  const hazards = hazardsOf(source.characters, lines);
  for (const hazard of extraHazards) hazards.add(hazard);
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.characters.length > 0) paragraphs.at(-1)?.push(writeLine(line, hazards));
    else if (paragraphs.at(-1)?.length !== 0) paragraphs.push([]);
  }
  return joinBlocks(paragraphs.map(joinLines));
}

interface Line {
  readonly start: number;
  /** Spaces at the start of the line; each tab becomes four spaces. */
  readonly indent: string;
  readonly characters: readonly string[];
  readonly spans: readonly Span[];
}

function toLines(all: readonly string[], spans: readonly Span[]): Line[] {
  const whole = splitLines(all);
  const trimmed = whole.map((line) => trimRange(line, all));
  const clipped = clipSpans(spans, trimmed);
  const lines: Line[] = [];
  for (const [at, { start, end }] of trimmed.entries()) {
    const indent = all.slice(whole[at]?.start, start).join('').replaceAll('\t', '    ');
    const characters = all.slice(start, end);
    const kept = clipped[at]?.filter((span) => !isQuery(span, characters)) ?? [];
    lines.push({ start, indent, characters, spans: fitSpans(kept, characters) });
  }
  return lines;
}

const isQuery = ({ kind, start, end }: Span, characters: readonly string[]) =>
  kind === 'code' && isInlineQuery(characters.slice(start, end).join(''));

function hazardsOf(characters: readonly string[], lines: readonly Line[]): Set<string> {
  const borders = new Set<number>();
  let markers = '';
  for (const line of lines) {
    for (const { start, end, kind } of line.spans) {
      borders.add(line.start + start).add(line.start + end);
      markers += markersOf[kind];
    }
  }
  const hazards = findHazards(characters, borders);
  for (const marker of markers) hazards.add(marker);
  return hazards;
}

const markersOf: Readonly<Record<Span['kind'], string>> = {
  bold: '*_',
  italic: '*_',
  strikethrough: '~',
  code: '`',
  link: '',
  autolink: '',
};

function writeLine(line: Line, hazards: ReadonlySet<string>): string {
  const { characters, spans, indent } = line;
  const borders = new Set<number>();
  const linkStarts = new Set<number>();
  const linked = new Uint8Array(characters.length);
  for (const { kind, start, end } of spans) {
    borders.add(start).add(end);
    if (kind !== 'link') continue;
    linkStarts.add(start);
    linked.fill(1, start, end);
  }
  const escaped = escapeCharacters(characters, { borders, linkStarts, linked, hazards });
  const written = indent !== '' ? escaped : escapeBlockStart(characters, escaped);
  return `${'\u00a0'.repeat(indent.length)}${writeSpans(written, line)}`;
}

function writeSpans(escaped: readonly string[], { spans, characters }: Line): string {
  if (spans.length === 0) return escaped.join('');
  const written = [...escaped];
  for (const span of spans.filter(isLeaf)) {
    written.fill('', span.start, span.end);
    const code = separateTemplates(characters.slice(span.start, span.end).join(''));
    written[span.start] = span.kind === 'autolink' ? (toAutolink(span.url) ?? '') : writeCode(code);
  }
  const line = findNeighbours(spans, characters);
  return insertMarkers(written, spans, (span) => {
    if (span.kind === 'link') return ['[', `](${toDestination(span.url)})`];
    const isWhole = span.kind === 'italic' && isAtWordBoundaries(span, line);
    const marker = isWhole ? '_' : markers[span.kind];
    return [marker, marker];
  });
}

const markers = { bold: '**', italic: '*', strikethrough: '~~', autolink: '', code: '' } as const;

function writeCode(code: string): string {
  const runs = new Set((code.match(/`+/g) ?? []).map((run) => run.length));
  let length = 1;
  while (runs.has(length)) length += 1;
  const fence = '`'.repeat(length);
  const pad = code.startsWith('`') || code.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${code}${pad}${fence}`;
}
