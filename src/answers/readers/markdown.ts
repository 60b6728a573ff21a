import MarkdownIt, { type Token } from 'markdown-it';
import { parse } from 'yaml';
import { z } from 'zod';
import { kindOf } from './reader-kinds.ts';
import { type Block, countLines, type ReadFile, SectionBuilder } from './section.ts';

/** Reads CommonMark with tables and front matter. */
export function readMarkdown(text: string): ReadFile {
  const { title, description, rest } = takeFrontMatter(text);
  const walk = new TokenWalk();
  walk.sections.add({ kind: 'text', text: description, line: 1, endLine: 1 });
  // Inline marks are wanted as they are written, so inline text is left unparsed.
  const parser = new MarkdownIt({ html: true });
  parser.core.ruler.enableOnly(['normalize', 'block']);
  for (const token of parser.parse(rest, {})) walk.take(token);
  return {
    title: title || walk.title,
    sections: walk.sections.finish(countLines(text)),
  };
}

/** Longer headings are shown as they are written. */
const maxHeading = 500;

/** Returns the heading of a passage as readers of its file see it: of Markdown without its marks. */
export function toShownHeading({ path, heading }: { path: string; heading: string }): string {
  const kind = kindOf(path);
  return kind === 'markdown' || kind === 'mdx' ? toPlainHeading(heading) : heading;
}

/** Returns the text of a heading without the marks of Markdown: code spans, emphasis, links, escapes. */
export function toPlainHeading(markdown: string): string {
  if (markdown.length > maxHeading || !/[\\`*_~[\]&]/.test(markdown)) return markdown;
  const [inline] = new MarkdownIt().parseInline(markdown, {});
  return textOf(inline?.children ?? []).trim();
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content, children }) => {
      if (type === 'image') return textOf(children ?? []);
      return /break$/.test(type) ? ' ' : content;
    })
    .join('');
}

type Lines = Pick<Block, 'line' | 'endLine'>;

class TokenWalk {
  readonly sections = new SectionBuilder();
  title = '';
  #heading: { readonly level: number; readonly line: number } | undefined;
  #listDepth = 0;
  #row: { readonly cells: string[]; readonly lines: Lines } | undefined;

  take(token: Token): void {
    if (token.type === 'inline') this.#takeInline(token);
    else if (token.type === 'html_block') this.#addText(token);
    else if (token.type === 'fence' || token.type === 'code_block') this.#addCode(token);
    else if (token.type === 'heading_open') {
      this.#heading = { level: Number(token.tag.slice(1)), line: linesOf(token).line };
    } else if (/^list_item_/.test(token.type)) this.#listDepth += token.nesting;
    else if (/^tr_/.test(token.type)) this.#takeRow(token);
  }

  #takeInline(token: Token): void {
    if (this.#heading !== undefined) this.#startSection(stripTags(token.content), this.#heading);
    else if (this.#row !== undefined) this.#row.cells.push(stripTags(token.content));
    else this.#addText(token);
  }

  #startSection(text: string, heading: { readonly level: number; readonly line: number }): void {
    if (heading.level === 1 && this.title === '') this.title = text;
    this.sections.startSection({ ...heading, text });
    this.#heading = undefined;
  }

  #addText(token: Token): void {
    const kind = this.#listDepth > 0 ? 'item' : 'text';
    this.sections.add({ kind, text: stripTags(token.content), ...linesOf(token) });
  }

  #addCode(token: Token): void {
    const [language = ''] = token.info.trim().split(/\s+/, 1);
    const lines = linesOf(token);
    this.sections.add({
      kind: 'code',
      text: token.content.replace(/\n$/, ''),
      ...lines,
      ...(language === '' ? {} : { language }),
    });
  }

  #takeRow(token: Token): void {
    if (token.nesting > 0) this.#row = { cells: [], lines: linesOf(token) };
    else if (this.#row !== undefined) {
      const text = this.#row.cells.filter((cell) => cell !== '').join(' | ');
      this.sections.add({ kind: 'row', text, ...this.#row.lines });
      this.#row = undefined;
    }
  }
}

/** Tokens count lines from 0 and name the line after the last. */
function linesOf(token: Token): Lines {
  const [first = 0, end = first + 1] = token.map ?? [];
  return { line: first + 1, endLine: Math.max(first + 1, end) };
}

const frontMatter = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});

/** What a file says of itself before its text, and the text with those lines blank. */
interface FrontMatter {
  readonly title: string;
  readonly description: string;
  readonly rest: string;
}

/** Takes YAML front matter off a text. Lines keep their numbers. */
function takeFrontMatter(text: string): FrontMatter {
  const [whole, body] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (whole === undefined || body === undefined) return { title: '', description: '', rest: text };
  const rest = whole.replaceAll(/[^\n]/g, '') + text.slice(whole.length);
  const { title = '', description = '' } = readFields(body);
  return { title, description, rest };
}

function readFields(body: string): z.output<typeof frontMatter> {
  try {
    return frontMatter.catch({}).parse(parse(body, { maxAliasCount: 0 }));
  } catch {
    return {}; // Front matter that is no YAML says nothing.
  }
}

/** Takes HTML and JSX tags and comments out of Markdown; what stands in code spans stays. */
function stripTags(markdown: string): string {
  if (!markdown.includes('<')) return markdown.trim();
  return markdown.replaceAll(tagOrCode, (_match, code: string | undefined) => code ?? '').trim();
}

/** A code span, a comment or a tag. A comment that is not closed runs to the end. */
const tagOrCode =
  /(```[^`]{1,500}```|``[^`]{1,500}``|`[^`]{1,500}`)|<!--[\s\S]*?(?:-->|$)|<\/?[A-Za-z][\w.:-]{0,60}(?:\s[^<>]{0,2000})?\/?>|<\/?>/g;
