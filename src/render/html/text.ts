import { isSpace, toCharacters } from '../markdown/characters.ts';
import {
  type Annotation,
  clipSpans,
  insertMarkers,
  type Range,
  type Span,
  splitLines,
  toSpans,
} from '../markdown/spans.ts';
import { escapeHtml, openLink } from './escape.ts';

/** Start tag and end tag of an element; two empty strings for no element. */
export type TagPair = readonly [open: string, close: string];

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
  { lang = null, toLinkTags = toOutwardTags }: TextOptions = {},
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
  { toLinkTags = toOutwardTags }: Pick<TextOptions, 'toLinkTags'> = {},
): string {
  const source = toCharacters(text.replace(/[\n\v\f\r\u0085\u2028\u2029]/g, ' '));
  const written = source.characters.map(escapeCharacter);
  return insertMarkers(written, toSpans(source, annotations), toTags(toLinkTags));
}

/** Language codes of no single language, such as `und` and X's `qme` (only media). */
const noLanguage = /^(?:und|zxx|mul|mis|art|q[a-t][a-z])(?:-|$)/i;

export function langOf(lang: string | null): string {
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

function toOutwardTags(url: string): TagPair {
  const open = openLink(url);
  return open === null ? ['', ''] : [open, '</a>'];
}
