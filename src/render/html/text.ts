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

/**
 * Renders text with its annotations (styles and links) as HTML paragraphs. Line breaks become `br`, spaces at the start
 * of a line become no-break spaces, and bare URLs become links. `lang` is the language code from the platform.
 */
export function renderParagraphs(
  text: string,
  annotations: readonly Annotation[] = [],
  lang: string | null = null,
): string {
  const source = toCharacters(text);
  const written = writeCharacters(source.characters);
  const paragraphs = toParagraphs(source.characters);
  const clipped = clipSpans(toSpans(source, annotations), paragraphs);
  return paragraphs
    .map(({ start, end }, at) =>
      insertMarkers(written.slice(start, end), clipped[at] ?? [], tagsOf),
    )
    .map((paragraph) => `<p${langOf(lang)} dir="auto">${paragraph}</p>`)
    .join('\n');
}

/** Pattern of language codes that name no single language, such as `und` (undetermined) and X's `qme` (only media). */
const noLanguage = /^(?:und|zxx|mul|mis|art|q[a-t][a-z])(?:-|$)/i;

function langOf(lang: string | null): string {
  if (lang === null || !/^[a-z]{2,3}(?:-[a-z\d]{1,8}){0,3}$/i.test(lang)) return '';
  return noLanguage.test(lang) ? '' : ` lang="${lang}"`;
}

/** Escapes a character for HTML. Skips the slower `escapeHtml` for the most common characters. */
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

function tagsOf(span: Span): readonly [string, string] {
  if (span.kind !== 'link' && span.kind !== 'autolink') {
    return [`<${tags[span.kind]}>`, `</${tags[span.kind]}>`];
  }
  const open = openLink(span.url);
  return open === null ? ['', ''] : [open, '</a>'];
}
