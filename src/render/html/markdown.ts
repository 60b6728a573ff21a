import { trimEndOf } from '../../core/trim-end.ts';
import { toVisibleText } from '../markdown/characters.ts';
import type { NestHeading } from '../markdown/verbatim.ts';
import { escapeHtml } from './escape.ts';
import { heading, joinParts } from './markup.ts';
import { renderInline, renderParagraphs, type TextOptions } from './text.ts';

export const renderCode = (code: string): string =>
  `<pre dir="auto"><code>${escapeHtml(trimEndOf(toVisibleText(code), '\n'))}</code></pre>`;

/** Renders only code blocks and `#` headings, other markup as text. Yields after each paragraph. */
export function renderMarkdown(markdown: string, nest: NestHeading, options: TextOptions): string {
  const rendered: string[] = [];
  for (const { isCode, lines } of splitCode(toVisibleText(markdown).split('\n'))) {
    rendered.push(isCode ? renderCode(lines.join('\n')) : renderLines(lines, nest, options));
  }
  return joinParts(rendered);
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
