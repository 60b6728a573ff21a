import type { Token } from 'markdown-it';
import MarkdownIt from 'markdown-it';
import { parse } from 'yaml';
import * as z from 'zod';
import { kindOf } from './reader-kinds.ts';
import { type Block, type ReadFile, SectionBuilder, toRowText } from './section.ts';

/** Parses CommonMark with tables and front matter into sections. */
export function readMarkdown(text: string): ReadFile {
  const { title, description, rest } = takeFrontMatter(text);
  const reader = new MarkdownReader();
  reader.sections.add({ kind: 'text', text: description, line: 1, endLine: 1 });
  // Inline Markdown is kept as written, so inline text is not parsed.
  const parser = new MarkdownIt({ html: true });
  parser.core.ruler.enableOnly(['normalize', 'block']);
  for (const token of parser.parse(rest, {})) reader.take(token);
  return reader.sections.finish(title || reader.title, text);
}

const maxHeading = 500;

/** Returns a heading as plain text, without Markdown syntax if the file is Markdown. */
export function toShownHeading({ path, heading }: { path: string; heading: string }): string {
  return ['markdown', 'mdx'].includes(kindOf(path) ?? '') ? toPlainHeading(heading) : heading;
}

/** Returns the text of a heading without Markdown syntax (code spans, emphasis, links, escapes). */
export function toPlainHeading(markdown: string): string {
  if (markdown.length > maxHeading || !/[\\`*_~[\]&]/.test(markdown)) return markdown;
  const [inline] = new MarkdownIt().parseInline(markdown, {});
  return textOf(inline?.children ?? []).trim();
}

function textOf(tokens: readonly Token[]): string {
  const texts = tokens.map(({ type, content, children }) => {
    if (type === 'image') return textOf(children ?? []);
    return /break$/.test(type) ? ' ' : content;
  });
  return texts.join('');
}

type Lines = Pick<Block, 'line' | 'endLine'>;

class MarkdownReader {
  readonly sections = new SectionBuilder();
  title = '';
  #heading: { readonly level: number; readonly line: number } | undefined;
  #listDepth = 0;
  #row: { readonly cells: string[]; readonly lines: Lines } | undefined;
  /** Header cells of the current table; `undefined` before the header row. */
  #headers: readonly string[] | undefined;

  take(token: Token): void {
    if (token.type === 'inline') this.#takeInline(token);
    else if (token.type === 'html_block') this.#addText(token);
    else if (token.type === 'fence' || token.type === 'code_block') this.#addCode(token);
    else if (token.type === 'heading_open') {
      this.#heading = { level: Number(token.tag.slice(1)), line: linesOf(token).line };
    } else if (/^list_item_/.test(token.type)) this.#listDepth += token.nesting;
    else if (/^tr_/.test(token.type)) this.#takeRow(token);
    else if (token.type === 'thead_open') this.#headers = undefined;
  }

  #takeInline(token: Token): void {
    const text = stripTags(token.content);
    if (this.#heading !== undefined) {
      if (this.#heading.level === 1) this.title ||= text;
      this.sections.startSection({ ...this.#heading, text });
      this.#heading = undefined;
    } else if (this.#row !== undefined) this.#row.cells.push(text);
    else this.#addText(token);
  }

  #addText(token: Token): void {
    const kind = this.#listDepth > 0 ? 'item' : 'text';
    this.sections.add({ kind, text: stripTags(token.content), ...linesOf(token) });
  }

  #addCode(token: Token): void {
    const [language = ''] = token.info.trim().split(/\s+/, 1);
    const code = {
      kind: 'code',
      text: token.content.replace(/\n$/, ''),
      ...linesOf(token),
    } as const;
    this.sections.add(language === '' ? code : { ...code, language });
  }

  #takeRow(token: Token): void {
    if (token.nesting > 0) this.#row = { cells: [], lines: linesOf(token) };
    else if (this.#row !== undefined) {
      const { cells, lines } = this.#row;
      if (this.#headers === undefined) this.#headers = cells;
      else this.sections.add({ kind: 'row', text: toRowText(cells, this.#headers), ...lines });
      this.#row = undefined;
    }
  }
}

function linesOf(token: Token): Lines {
  const [first = 0, end = first + 1] = token.map ?? [];
  return { line: first + 1, endLine: Math.max(first + 1, end) };
}

const frontMatter = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});

/** Takes title and description from YAML front matter, blanked in `rest` to keep line numbers. */
function takeFrontMatter(text: string) {
  const [whole = '', body = ''] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text) ?? [];
  const rest = whole.replaceAll(/[^\n]/g, '') + text.slice(whole.length);
  const { title = '', description = '' } = readFields(body);
  return { title, description, rest };
}

function readFields(body: string): z.output<typeof frontMatter> {
  try {
    return frontMatter.catch({}).parse(parse(body, { maxAliasCount: 0 }));
  } catch {
    return {}; // Invalid YAML is ignored.
  }
}

function stripTags(markdown: string): string {
  if (!markdown.includes('<')) return markdown.trim();
  return markdown.replaceAll(tagOrCode, (_match, code: string | undefined) => code ?? '').trim();
}

const tagOrCode =
  /(```[^`]{1,500}```|``[^`]{1,500}``|`[^`]{1,500}`)|<!--[\s\S]*?(?:-->|$)|<\/?[A-Za-z][\w.:-]{0,60}(?:\s[^<>]{0,2000})?\/?>|<\/?>/g;

/** Parses MDX as Markdown without tags, imports and exports; option properties become items. */
export function readMdx(text: string): ReadFile {
  const state: State = { fence: '', isInTag: false, isInImport: false };
  // Converts each line separately, so that line numbers stay the same.
  const lines = text.split('\n').map((line) => toMarkdownLine(line, state));
  return readMarkdown(lines.join('\n'));
}

interface State {
  /** Opening fence of the current code block; an empty string outside code blocks. */
  fence: string;
  isInTag: boolean;
  isInImport: boolean;
}

function toMarkdownLine(line: string, state: State): string {
  const [, fence] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
  if (fence !== undefined && !state.isInTag) {
    state.fence = nextFence(fence, state.fence);
    return line.trimStart();
  }
  if (state.fence !== '') return line;
  if (state.isInTag) return readPropertyLine(line, state);
  if (state.isInImport || /^(?:import|export)\s.*(?:from|['"{]|=)/.test(line)) {
    state.isInImport = !/['"};]$/.test(line.trimEnd());
    return '';
  }
  if (/^\s*<[A-Za-z][\w.]*(?:\s[^>]*)?$/.test(line)) {
    state.isInTag = true;
    return '';
  }
  // A line that is only a tag is dropped.
  return /^\s*<\/?[A-Za-z][^>]*>\s*$/.test(line) ? '' : line;
}

function nextFence(fence: string, open: string): string {
  return open !== '' && fence.startsWith(open) ? '' : open || fence;
}

function readPropertyLine(line: string, state: State): string {
  if (/^(?:\]\}|\}\})?\s*\/?>$/.test(line.trim())) {
    state.isInTag = false;
    return '';
  }
  const [, property, value] =
    /^\s*(?:(name|type|description|title|content):\s*)?["'`](.*?)["'`],?\s*$/.exec(line) ?? [];
  if (value === undefined || value === '') return '';
  return property === 'name' ? `- \`${value}\`` : `  ${value.replaceAll("\\'", "'")}`;
}
