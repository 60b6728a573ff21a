import type { MarkdownIt, Token } from 'markdown-it';
import { escapeHtml } from '../../../render/html/escape.ts';
import { avoidInlineStyle, renderCode } from '../docs/markdown.ts';
import { nestHeadings } from '../front/result-html.ts';
import { type AnswerLinks, citationPattern } from './answer-links.ts';

/** Gives the Markdown of an answer as HTML. */
export type AnswerRenderer = (markdown: string) => string;

/** The level of the first heading within an answer; the question above it has the second. */
const firstHeading = 3;

/**
 * Creates the renderer of answers. Nothing in one becomes markup but what its Markdown says; citations
 * of pages of this site become links, and so do links to these pages and to the web. The parser is loaded
 * here, since a server that shows no page needs none.
 */
export async function createAnswerRenderer(links: AnswerLinks): Promise<AnswerRenderer> {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  // What leads nowhere is shown as text below, and is a link to the parser all the same.
  parser.validateLink = () => true;
  setRules(parser, links);
  return (markdown) => {
    const tokens = parser.parse(markdown, {});
    nestHeadings(tokens, firstHeading);
    for (const token of tokens) {
      avoidInlineStyle(token);
      leadLinks(token.children ?? [], links);
    }
    return parser.renderer.render(tokens, parser.options, {});
  };
}

function setRules(parser: MarkdownIt, links: AnswerLinks): void {
  const { rules } = parser.renderer;
  rules.fence = (tokens, at) => renderCode(tokens[at]);
  rules.code_block = (tokens, at) => renderCode(tokens[at]);
  rules.table_open = () => '<div class="table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  // A picture would be asked for elsewhere; what it shows is said.
  rules.image = (tokens, at) => escapeHtml(tokens[at]?.content ?? '');
  rules.text = (tokens, at) => {
    const content = tokens[at]?.content ?? '';
    return isInLink(tokens, at) ? escapeHtml(content) : linkCitations(content, links);
  };
  rules.code_inline = (tokens, at) => {
    const content = tokens[at]?.content ?? '';
    const code = `<code>${escapeHtml(content)}</code>`;
    const href = isInLink(tokens, at) ? null : links.ofCitation(content);
    return href === null ? code : `<a href="${escapeHtml(href)}">${code}</a>`;
  };
}

function isInLink(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(0, at).map(({ type }) => type);
  return before.lastIndexOf('link_open') > before.lastIndexOf('link_close');
}

function linkCitations(text: string, links: AnswerLinks): string {
  let html = '';
  let end = 0;
  for (const { 0: citation, index } of text.matchAll(citationPattern)) {
    const href = links.ofCitation(citation);
    if (href === null) continue;
    html += escapeHtml(text.slice(end, index));
    html += `<a href="${escapeHtml(href)}">${escapeHtml(citation)}</a>`;
    end = index + citation.length;
  }
  return html + escapeHtml(text.slice(end));
}

function leadLinks(tokens: readonly Token[], links: AnswerLinks): void {
  const open: string[] = [];
  for (const token of tokens) {
    if (token.type === 'link_open') open.push(leadLink(token, links));
    else if (token.type === 'link_close') token.tag = open.pop() ?? 'span';
  }
}

/** What leads nowhere from here is shown as text. Whoever wrote the docs vouches for their links. */
function leadLink(token: Token, links: AnswerLinks): string {
  const href = links.ofTarget(String(token.attrGet('href') ?? ''));
  token.tag = href === null ? 'span' : 'a';
  token.attrs = href === null ? [] : toAttributes(href);
  return token.tag;
}

function toAttributes(href: string): [string, string][] {
  const isElsewhere = /^https?:/i.test(href);
  return [['href', href], ...(isElsewhere ? [['rel', webRelation] as [string, string]] : [])];
}

const webRelation = 'nofollow noopener noreferrer';
