import { isSpace, toCharacters } from '../markdown/characters.ts';
import { type Mark, type Span, toSpans } from '../markdown/spans.ts';
import { escapeHtml } from './escape.ts';
import { openLink } from './links.ts';

/**
 * Gives a text with its marks as `p` elements: empty lines part paragraphs, lines end in `br`,
 * spaces at the start of a line become no-break spaces, bare URLs become links. `lang` is the
 * text's language as its platform names it; null where it is not known.
 */
export function renderParagraphs(
  text: string,
  marks: readonly Mark[],
  lang: string | null = null,
): string {
  const source = toCharacters(text);
  const written = writeCharacters(source.characters);
  const start = `<p${langOf(lang)} dir="auto">`;
  return clipSpans(toParagraphs(source.characters), toSpans(source, marks))
    .map((paragraph) => `${start}${writeParagraph(paragraph, written)}</p>`)
    .join('\n');
}

/** Codes that stand for no language: undetermined, no words, and X's own for what is no prose. */
const noLanguage = /^(?:und|zxx|mul|mis|art|q[a-t][a-z])(?:-|$)/i;

function langOf(lang: string | null): string {
  if (lang === null || !/^[a-z]{2,3}(?:-[a-z\d]{1,8}){0,3}$/i.test(lang)) return '';
  return noLanguage.test(lang) ? '' : ` lang="${lang}"`;
}

/** Gives the HTML of each character. */
function writeCharacters(characters: readonly string[]): string[] {
  let isIndent = true;
  return characters.map((character) => {
    isIndent = character === '\n' || (isIndent && isSpace(character));
    if (character === '\n') return '<br />\n';
    if (!isIndent) return escapeCharacter(character);
    return character === '\t' ? '\u00a0'.repeat(4) : '\u00a0';
  });
}

/** Most characters are of ASCII and need no escape. */
function escapeCharacter(character: string): string {
  return character <= '~' && !/[&<>"']/.test(character) ? character : escapeHtml(character);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Finds the runs of lines that are not blank. */
function toParagraphs(characters: readonly string[]): Range[] {
  const paragraphs: Range[] = [];
  for (const line of toLines(characters)) {
    const last = paragraphs.at(-1);
    if (characters.slice(line.start, line.end).every(isSpace)) continue;
    if (last?.end !== line.start - 1) paragraphs.push(line);
    else paragraphs.splice(-1, 1, { start: last.start, end: line.end });
  }
  return paragraphs;
}

function toLines(characters: readonly string[]): Range[] {
  const lines: Range[] = [];
  for (let start = 0; start <= characters.length; ) {
    const found = characters.indexOf('\n', start);
    const end = found === -1 ? characters.length : found;
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

interface Paragraph extends Range {
  readonly spans: readonly Span[];
}

/** Gives each paragraph the parts of the spans that lie in it. */
function clipSpans(ranges: readonly Range[], spans: readonly Span[]): Paragraph[] {
  let ahead = 0;
  let open: readonly Span[] = [];
  return ranges.map((range) => {
    const from = ahead;
    while ((spans[ahead]?.start ?? range.end) < range.end) ahead += 1;
    open = [...open, ...spans.slice(from, ahead)].filter((span) => span.end > range.start);
    return { ...range, spans: open.map((span) => clip(span, range)) };
  });
}

function clip(span: Span, { start, end }: Range): Span {
  return { ...span, start: Math.max(span.start, start), end: Math.min(span.end, end) };
}

/** Puts the tags of the spans, which come from outside to inside, between the characters. */
function writeParagraph({ start, end, spans }: Paragraph, written: readonly string[]): string {
  const characters = [...written.slice(start, end), ''];
  const opening = characters.map(() => '');
  const closing = characters.map(() => '');
  for (const span of spans) {
    const [open, close] = tagsOf(span);
    const [from, to] = [span.start - start, span.end - start];
    opening[from] = `${opening[from]}${open}`;
    closing[to] = `${close}${closing[to]}`;
  }
  return characters.map((text, at) => `${closing[at]}${opening[at]}${text}`).join('');
}

function tagsOf(span: Span): readonly [string, string] {
  switch (span.kind) {
    case 'bold':
      return ['<strong>', '</strong>'];
    case 'italic':
      return ['<em>', '</em>'];
    case 'strikethrough':
      return ['<del>', '</del>'];
    case 'code':
      return ['<code>', '</code>'];
    case 'link':
    case 'autolink': {
      const open = openLink(span.url);
      return open === null ? ['', ''] : [open, '</a>'];
    }
  }
}
