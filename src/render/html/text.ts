import { trimEndOf } from '../../lib/text.ts';
import { isSpace, toCharacters, toVisibleText } from '../markdown/characters.ts';
import {
  type Annotation,
  clipSpans,
  insertMarkers,
  type Range,
  type Span,
  splitLines,
  toSpans,
} from '../markdown/spans.ts';
import type { NestHeading } from '../markdown/verbatim.ts';
import { escapeHtml, heading, joinParts, outwardLinks, type TagPair } from './markup.ts';

export interface TextOptions {
  /** Language code from the platform; `null` if unknown. */
  readonly lang?: string | null;
  /** Returns the tags of the link for a URL, even to another target. Default: to the URL. */
  readonly toLinkTags?: (url: string) => TagPair;
}

/** Renders annotated text as paragraphs, with `br`, no-break indents and linked bare URLs. */
export function renderParagraphs(
  text: string,
  annotations: readonly Annotation[] = [],
  { lang = null, toLinkTags = outwardLinks.toTags }: TextOptions = {},
): string {
  const source = toCharacters(text);
  const written = writeCharacters(source.characters);
  const paragraphs = toParagraphs(source.characters);
  const clipped = clipSpans(toSpans(source, annotations), paragraphs);
  return paragraphs
    .map(({ start, end }, at) =>
      insertMarkers(written.slice(start, end), clipped[at] ?? [], toTags(toLinkTags)),
    )
    .map((paragraph) => `<p${langOf(lang)} dir="auto">${paragraph}</p>`)
    .join('\n');
}

/** Renders annotated text on one line, without an enclosing element. */
export function renderInline(
  text: string,
  annotations: readonly Annotation[] = [],
  { toLinkTags = outwardLinks.toTags }: Pick<TextOptions, 'toLinkTags'> = {},
): string {
  const source = toCharacters(text.replace(/[\n\v\f\r\u0085\u2028\u2029]/g, ' '));
  const written = source.characters.map(escapeCharacter);
  return insertMarkers(written, toSpans(source, annotations), toTags(toLinkTags));
}

/** Language codes of no single language, such as `und` and X's `qme` (only media). */
const noLanguage = /^(?:und|zxx|mul|mis|art|q[a-t][a-z])(?:-|$)/i;

function langOf(lang: string | null): string {
  if (lang === null || !/^[a-z]{2,3}(?:-[a-z\d]{1,8}){0,3}$/i.test(lang)) return '';
  return noLanguage.test(lang) ? '' : ` lang="${lang}"`;
}

const escapeCharacter = (character: string) =>
  /^(?![&<>"'])[ -~]$/.test(character) ? character : escapeHtml(character);

function writeCharacters(characters: readonly string[]): string[] {
  let isIndent = true;
  return characters.map((character) => {
    isIndent = character === '\n' || (isIndent && isSpace(character));
    if (character === '\n') return '<br />\n';
    if (isIndent) return '\u00a0'.repeat(character === '\t' ? 4 : 1);
    return escapeCharacter(character);
  });
}

function toParagraphs(characters: readonly string[]): Range[] {
  const paragraphs: Range[] = [];
  for (const line of splitLines(characters)) {
    const last = paragraphs.at(-1);
    if (characters.slice(line.start, line.end).every(isSpace)) continue;
    if (last?.end !== line.start - 1) paragraphs.push(line);
    else paragraphs.splice(-1, 1, { start: last.start, end: line.end });
  }
  return paragraphs;
}

const tags = { bold: 'strong', italic: 'em', strikethrough: 'del', code: 'code' } as const;

const toTags =
  (toLinkTags: (url: string) => TagPair) =>
  (span: Span): TagPair =>
    span.kind === 'link' || span.kind === 'autolink'
      ? toLinkTags(span.url)
      : [`<${tags[span.kind]}>`, `</${tags[span.kind]}>`];

export const renderCode = (code: string): string =>
  `<pre dir="auto"><code>${escapeHtml(trimEndOf(toVisibleText(code), '\n'))}</code></pre>`;

/** Renders only code blocks and `#` headings, other markup as text. */
export function renderMarkdown(markdown: string, nest: NestHeading, options: TextOptions): string {
  const sections = splitCode(toVisibleText(markdown).split('\n'));
  return joinParts(
    sections.map(({ isCode, lines }) =>
      isCode ? renderCode(lines.join('\n')) : renderLines(lines, nest, options),
    ),
  );
}

interface Section {
  readonly isCode: boolean;
  readonly lines: string[];
}

const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

function splitCode(lines: readonly string[]): readonly Section[] {
  let section: Section = { isCode: false, lines: [] };
  const sections = [section];
  let open = '';
  for (const line of lines) {
    const mark = fence.exec(line)?.[1] ?? '';
    const isMark = section.isCode ? mark.startsWith(open) : mark !== '';
    if (isMark) {
      open = mark;
      section = { isCode: !section.isCode, lines: [] };
      sections.push(section);
    } else section.lines.push(line);
  }
  return sections;
}

const markedHeading = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;

function renderLines(lines: readonly string[], nest: NestHeading, options: TextOptions): string {
  const rendered: string[] = [];
  let text: string[] = [];
  const endText = () => {
    rendered.push(renderParagraphs(text.join('\n'), [], options));
    text = [];
  };
  for (const line of lines) {
    const [, signs, title] = markedHeading.exec(line) ?? [];
    if (signs !== undefined && title !== undefined) {
      endText();
      rendered.push(heading(nest(signs.length), renderInline(title, [], options)));
    } else if (line.trim() === '') {
      endText();
    } else text.push(line);
  }
  endText();
  return joinParts(rendered);
}
