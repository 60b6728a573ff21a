import type { MarkdownIt, Token } from 'markdown-it';
import { toSlug } from '../../../core/slug.ts';
import { escapeHtml } from '../../../render/html/escape.ts';
import { guessLanguage, highlight } from './highlight.ts';

/** A heading of a document. */
export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  readonly text: string;
  /** The fragment that leads to it. */
  readonly id: string;
}

/** A heading and what stands under it, up to the next heading, as plain text. */
export interface DocumentSection {
  readonly heading: Heading;
  readonly text: string;
}

/** A Markdown document, read. */
export interface MarkdownDocument {
  /** Without the first heading of level 1, which is the title of the page. */
  readonly html: string;
  /** In the order of the document, that of level 1 included. */
  readonly sections: readonly DocumentSection[];
}

/** Gives where a relative link leads, as an `href`; null for what is not on this site. */
export type ResolveLink = (target: string) => string | null;

/** Reads Markdown documents. */
export type ReadMarkdown = (source: string, resolve: ResolveLink) => MarkdownDocument;

/**
 * Creates the reader of Markdown: CommonMark with tables, and no HTML. The parser is loaded here, since
 * a server that shows no page needs none.
 */
export async function createMarkdown(): Promise<ReadMarkdown> {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  setRules(parser);
  return (source, resolve) => {
    const tokens = parser.parse(source, {});
    const sections = nameHeadings(tokens);
    markOutputs(tokens);
    for (const token of tokens) {
      avoidInlineStyle(token);
      if (token.children !== null) leadLinks(token.children, resolve);
    }
    const html = parser.renderer.render(dropTitle(tokens), parser.options, {});
    return { html, sections };
  };
}

function setRules(parser: MarkdownIt): void {
  const { rules } = parser.renderer;
  rules.fence = (tokens, at) => renderCode(tokens[at]);
  rules.code_block = (tokens, at) => renderCode(tokens[at]);
  rules.table_open = () => '<div class="table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  // A picture would be asked for elsewhere; what it shows is said.
  rules.image = (tokens, at) => escapeHtml(tokens[at]?.content ?? '');
  rules.heading_close = (tokens, at) => {
    const { tag, meta } = tokens[at] ?? {};
    return ` <a class="anchor" href="#${escapeHtml(String(meta?.id))}" aria-hidden="true" tabindex="-1">#</a></${tag}>\n`;
  };
}

/** Gives a token of code as HTML, with the colours of its language. */
export function renderCode(token: Token | undefined): string {
  const { content = '', info = '', meta } = token ?? {};
  const { role = '' }: { role?: string } = meta ?? {};
  const named = info.trim().split(/\s/, 1)[0] ?? '';
  const language = named === '' ? guessLanguage(content) : named;
  const code = highlight(content.replace(/\n$/, ''), language);
  return `<div class="code${role}"><pre><code class="language-${escapeHtml(language)}">${code}</code></pre></div>\n`;
}

/** What stands without a language behind a command is what the command prints (docs/development.md). */
function markOutputs(tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const isOutput = token.type === 'fence' && token.info === '' && before?.type === 'fence';
    if (!isOutput || before.info === '') continue;
    before.meta = { role: ' has-output' };
    token.meta = { role: ' output' };
  }
}

/** Gives every heading its id, and the sections that they begin. What stands before the first belongs to none. */
function nameHeadings(tokens: readonly Token[]): readonly DocumentSection[] {
  const slugOf = createSlugs();
  const sections: { heading: Heading; texts: string[] }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      sections.push({ heading: nameHeading(tokens.slice(at, at + 3), slugOf), texts: [] });
    } else if (tokens[at - 1]?.type !== 'heading_open') {
      sections.at(-1)?.texts.push(toText(token));
    }
  }
  return sections.map(({ heading, texts }) => ({
    heading,
    text: texts.filter((text) => text !== '').join('\n'),
  }));
}

/** A heading is three tokens: its beginning, its text and its end. */
function nameHeading(
  [open, inline, close]: readonly Token[],
  slugOf: (heading: string) => string,
): Heading {
  const text = inline === undefined ? '' : toText(inline);
  const id = slugOf(text);
  open?.attrSet('id', id);
  if (close !== undefined) close.meta = { id };
  return { level: Number(open?.tag.slice(1)), text, id };
}

/** Gives what a reader sees of a token; code as it is, and nothing of what only marks a structure. */
function toText({ type, content, children }: Token): string {
  if (type === 'fence' || type === 'code_block') return content;
  if (type !== 'inline') return '';
  return (children ?? [])
    .map((child) => (child.type.endsWith('break') ? ' ' : child.content))
    .join('');
}

/** The alignment of a column becomes a class: pages have no styles within them. */
export function avoidInlineStyle(token: Token): void {
  const style = token.attrGet('style');
  if (style === null) return;
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
  token.attrSet('class', String(style).replace('text-align:', 'align-'));
}

/** What leads nowhere on this site is shown as text, with its name. */
function leadLinks(children: readonly Token[], resolve: ResolveLink): void {
  const open: Token[] = [];
  for (const token of children) {
    if (token.type === 'link_open') {
      open.push(token);
      leadLink(token, resolve);
    } else if (token.type === 'link_close') {
      token.tag = open.pop()?.tag ?? 'a';
    }
  }
}

function leadLink(token: Token, resolve: ResolveLink): void {
  const target = String(token.attrGet('href') ?? '');
  if (/^(?:[a-z][a-z0-9+.-]*:|#)/i.test(target)) return;
  const href = resolve(target);
  if (href === null) {
    token.tag = 'span';
    token.attrs = [
      ['class', 'in-repository'],
      ['title', `${target}, in the repository`],
    ];
  } else token.attrSet('href', href);
}

function dropTitle(tokens: Token[]): Token[] {
  const at = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h1');
  return at === -1 ? tokens : tokens.toSpliced(at, 3);
}

/** Creates the naming of one page's headings: the second of a name gets `-1`, the third `-2`. */
function createSlugs(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const slug = toSlug(heading) || 'section';
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    if (count === 0) return slug;
    const numbered = `${slug}-${count}`;
    counts.set(numbered, (counts.get(numbered) ?? 0) + 1);
    return numbered;
  };
}
