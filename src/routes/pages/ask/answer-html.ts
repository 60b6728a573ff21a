import type { Token } from 'markdown-it';
import { escapeHtml } from '../../../render/html/markup.ts';
import { type DocSite, toDocPath } from '../docs/doc-pages.ts';
import { avoidInlineStyle, createParser, type LinkElement, setTargets } from '../docs/markdown.ts';
import { docsPath, toLink } from '../layout.ts';

export type AnswerLinks = ReturnType<typeof createAnswerLinks>;

export function createAnswerLinks(site: DocSite) {
  const toPage = (name: string, fragment: string) => {
    const page = site.library.find(name);
    return page === undefined ? null : `${toLink(toDocPath(page), site)}${fragment}`;
  };
  return {
    pages: site.library.pages.map(({ name }) => name),
    /** Returns the URL of a citation like `docs/keys.md#get-a-key:12`; `null` without a page. */
    ofCitation: (citation: string) => {
      const [, path = '', fragment = ''] = /^([^#:]+)(#[^:]+)?:\d+$/.exec(citation) ?? [];
      if (path === 'openapi/perch.json') return toLink('/openapi.json', site);
      return toPage(/^docs\/([\w-]+)\.md$/.exec(path)?.[1] ?? '', fragment);
    },
    /** Returns the URL of a link, a path for pages of this site; `null` if it is not on the web. */
    ofTarget: (target: string) =>
      target.startsWith(`${site.baseUrl}${docsPath}/`)
        ? toLink(target.slice(site.baseUrl.length), site)
        : toWebAddress(target),
  };
}

/** Link resolver for files that are not pages of this site: only `http` and `https` URLs. */
export const foreignLinks: AnswerLinks = {
  pages: [],
  ofCitation: () => null,
  ofTarget: toWebAddress,
};

function toWebAddress(target: string): string | null {
  return /^https?:\/\//i.test(target) ? target : null;
}

/** Creates a function that renders an answer's Markdown as HTML, with HTML escaped. */
export async function createAnswerRenderer(links: AnswerLinks) {
  const parser = await createParser();
  // The parser accepts every link; `toElement` renders links without a URL as text.
  parser.validateLink = () => true;
  const { rules } = parser.renderer;
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
  return (markdown: string): string => {
    const tokens = parser.parse(markdown, {});
    nestHeadings(tokens, 3); // the heading of the question has level 2
    for (const token of tokens) {
      avoidInlineStyle(token);
      setTargets(token.children ?? [], (target) => toElement(links.ofTarget(target)));
    }
    return parser.renderer.render(tokens, parser.options, {});
  };
}

function isInLink(tokens: readonly Token[], at: number): boolean {
  const before = tokens.slice(0, at).map(({ type }) => type);
  return before.lastIndexOf('link_open') > before.lastIndexOf('link_close');
}

const citationPattern = /(?:docs\/[\w-]+\.md|openapi\/perch\.json)(?:#[\p{L}\p{M}\p{N}_-]+)?:\d+/gu;

function linkCitations(text: string, links: AnswerLinks): string {
  return escapeHtml(text).replaceAll(citationPattern, (citation) => {
    const href = links.ofCitation(citation);
    return href === null ? citation : `<a href="${escapeHtml(href)}">${citation}</a>`;
  });
}

function toElement(href: string | null): LinkElement {
  if (href === null) return { tag: 'span', attrs: [] };
  const attrs: LinkElement['attrs'] = [['href', href]];
  if (toWebAddress(href) !== null) attrs.push(['rel', 'nofollow noopener noreferrer']);
  return { tag: 'a', attrs };
}

function nestHeadings(tokens: readonly Token[], first: number): void {
  const open: number[] = [];
  let tag = '';
  for (const token of tokens) {
    if (token.type === 'heading_close') token.tag = tag;
    if (token.type !== 'heading_open') continue;
    const level = Number(token.tag.slice(1));
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    tag = `h${Math.min(first + open.length - 1, 6)}`;
    token.tag = tag;
  }
}
