import type { MarkdownIt, Token } from 'markdown-it';
import { toSlug } from '../../../lib/text.ts';
import { escapeHtml } from '../../../render/html/markup.ts';

export interface DocumentSection {
  readonly heading: { readonly level: number; readonly text: string; readonly id: string };
  readonly text: string;
}

export interface MarkdownDocument {
  /** Document as HTML, without the title (the first heading of level 1). */
  readonly html: string;
  /** Sections in document order. The title, the first heading of level 1, starts one too. */
  readonly sections: readonly DocumentSection[];
}

/** Returns the `href` for a relative link; `null` for a target that is not on this site. */
export type ResolveLink = (target: string) => string | null;

/**
 * Creates a function that renders CommonMark with tables, without HTML. `## Get a post {#getPost}`
 * sets a heading's id. With `linkIds`, links to sections of other pages have the id of the section.
 * With `foldsSections`, sections of level 2 are collapsed.
 */
export async function createMarkdown() {
  const parser = await createParser();
  parser.renderer.rules.heading_close = (tokens, at) => {
    const { tag, meta } = tokens[at] ?? {};
    return ` <a class="anchor" href="#${escapeHtml(String(meta?.id))}" aria-hidden="true" tabindex="-1">#</a></${tag}>\n`;
  };
  return (
    source: string,
    resolve: ResolveLink,
    { linkIds = false, foldsSections = false } = {},
  ): MarkdownDocument => {
    const tokens = parser.parse(source, {});
    const sections = nameHeadings(tokens);
    markOutputs(tokens);
    markSettings(tokens);
    for (const token of tokens) {
      avoidInlineStyle(token);
      setTargets(token.children ?? [], (target) =>
        linkIds ? addId(toTarget(target, resolve)) : toTarget(target, resolve),
      );
    }
    const at = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h1');
    const untitled = at === -1 ? tokens : tokens.toSpliced(at, 3);
    const html = parser.renderer.render(untitled, parser.options, {});
    return { html: foldsSections ? foldSections(html) : html, sections };
  };
}

/** Folds sections of level 2. Their headings lose links: a summary must not contain controls. */
function foldSections(html: string): string {
  const [introduction = '', ...sections] = `\n${html}`.split(/^(?=<h2 )/m);
  const folded = sections.map((section) => {
    const [heading = '', ...rest] = section.split('</h2>');
    const [summary = ''] = heading.split(' <a class="anchor"', 1);
    return `<details class="folded"><summary>${summary}</h2></summary>${rest.join('</h2>')}</details>\n`;
  });
  return `${introduction}${folded.join('')}`;
}

/** Creates a parser without HTML and pictures. Loads the package `markdown-it` on demand. */
export async function createParser(): Promise<MarkdownIt> {
  const { default: createMarkdownIt } = await import('markdown-it');
  const parser = createMarkdownIt({ html: false, linkify: false });
  const { rules } = parser.renderer;
  rules.fence = (tokens, at) => renderCode(tokens[at]);
  rules.code_block = (tokens, at) => renderCode(tokens[at]);
  rules.table_open = (tokens, at) =>
    tokens[at]?.meta?.isSettings === true
      ? '<div class="table settings"><table role="table">\n'
      : '<div class="table"><table>\n';
  rules.table_close = () => '</table></div>\n';
  // A browser would load pictures from other hosts, so only the alternative texts are shown.
  rules.image = (tokens, at) => escapeHtml(tokens[at]?.content ?? '');
  return parser;
}

function renderCode(token: Token | undefined): string {
  const { content = '', info = '', meta } = token ?? {};
  const { role = '' }: { role?: string } = meta ?? {};
  const named = info.trim().split(/\s/, 1)[0] ?? '';
  const language = named === '' ? guessLanguage(content) : named;
  const code = highlight(content.replace(/\n$/, ''), language);
  return `<div class="code${role}"><pre><code class="language-${escapeHtml(language)}">${code}</code></pre></div>\n`;
}

/** Marks a block without a language as output of the block above (docs/development.md). */
function markOutputs(tokens: readonly Token[]): void {
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const isOutput = token.type === 'fence' && token.info === '' && before?.type === 'fence';
    if (!isOutput || before.info === '') continue;
    before.meta = { role: ' has-output' };
    token.meta = { role: ' output' };
  }
}

const tableRoles: Readonly<Record<string, string>> = {
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell',
};

function markSettings(tokens: readonly Token[]): void {
  let isSettings = false;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'table_open') {
      // The texts of the first two headers are the fifth and the eighth token of a table.
      const headers = [tokens[at + 4]?.content, tokens[at + 7]?.content];
      isSettings = headers.join() === 'variable,default';
      token.meta = { isSettings };
    }
    const role = isSettings ? tableRoles[token.type] : undefined;
    if (role !== undefined) token.attrSet('role', role);
  }
}

function nameHeadings(tokens: readonly Token[]): readonly DocumentSection[] {
  const makeUnique = createIds();
  const sections: { heading: DocumentSection['heading']; texts: string[] }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      // A heading has three tokens: its start, its text and its end.
      const [inline, close] = tokens.slice(at + 1, at + 3);
      const { text, wanted } = readHeading(inline);
      const id = makeUnique(wanted);
      token.attrSet('id', id);
      Object.assign(close ?? {}, { meta: { id } });
      sections.push({ heading: { level: Number(token.tag.slice(1)), text, id }, texts: [] });
    } else if (tokens[at - 1]?.type !== 'heading_open') {
      sections.at(-1)?.texts.push(toText(token));
    }
  }
  return sections.map(({ heading, texts }) => ({
    heading,
    text: texts.filter((text) => text !== '').join('\n'),
  }));
}

function readHeading(inline: Token | undefined) {
  if (inline === undefined) return { text: '', wanted: '' };
  const last = inline.children?.at(-1);
  const [, rest, id] = /^(.*) \{#([\w-]+)\}$/.exec(last?.content ?? '') ?? [];
  if (last !== undefined && rest !== undefined) last.content = rest;
  const text = toText(inline);
  return { text, wanted: id ?? toSlug(text) };
}

function toText({ type, content, children }: Token): string {
  if (type === 'fence' || type === 'code_block') return content;
  if (type !== 'inline') return '';
  return (children ?? [])
    .map((child) => (child.type.endsWith('break') ? ' ' : child.content))
    .join('');
}

/** Replaces the inline style of an aligned table column by a class: CSP forbids inline styles. */
export function avoidInlineStyle(token: Token): void {
  const style = token.attrGet('style');
  if (style === null) return;
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
  token.attrSet('class', String(style).replace('text-align:', 'align-'));
}

/** HTML element for a link; `span` for a link without a URL. */
export interface LinkElement {
  readonly tag: 'a' | 'span';
  readonly attrs: [string, string][];
}

/** Replaces the element of each link in Markdown tokens. `toElement` gets the link's URL. */
export function setTargets(tokens: readonly Token[], toElement: (target: string) => LinkElement) {
  let tag = 'a';
  for (const token of tokens) {
    if (token.type === 'link_open') {
      Object.assign(token, toElement(String(token.attrGet('href') ?? '')));
      tag = token.tag;
    } else if (token.type === 'link_close') token.tag = tag;
  }
}

function toTarget(target: string, resolve: ResolveLink): LinkElement {
  const isElsewhere = /^(?:[a-z][a-z0-9+.-]*:|#)/i.test(target);
  const href = isElsewhere ? target : resolve(target);
  if (href !== null) return { tag: 'a', attrs: [['href', href]] };
  const title = `${target}, in the repository`;
  return {
    tag: 'span',
    attrs: [
      ['class', 'in-repository'],
      ['title', title],
    ],
  };
}

function addId({ tag, attrs }: LinkElement): LinkElement {
  const [, fragment = ''] = new Map(attrs).get('href')?.split('#') ?? [];
  return { tag, attrs: fragment === '' ? attrs : [...attrs, ['id', fragment]] };
}

function createIds(): (wanted: string) => string {
  const counts = new Map<string, number>();
  return (wanted) => {
    const slug = wanted || 'section';
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    if (count === 0) return slug;
    const numbered = `${slug}-${count}`;
    counts.set(numbered, (counts.get(numbered) ?? 0) + 1);
    return numbered;
  };
}

type Kind = 'comment' | 'string' | 'number' | 'name' | 'word' | 'option';

type Grammar = readonly (readonly [Kind, RegExp])[];

// Unclosed tokens match too. Patterns that require the end of a token would be slow on unclosed
// tokens.
const doubleQuoted = /"(?:\\.|[^"\\\n])*"?/;
const singleQuoted = /'(?:\\.|[^'\\\n])*'?/;
const number = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/;

const script: Grammar = [
  ['comment', /\/\/.*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/],
  ['string', singleQuoted],
  ['string', doubleQuoted],
  ['string', /`(?:\\[\s\S]|[^`\\])*`?/],
  [
    'word',
    /\b(?:as|async|await|break|case|catch|class|const|continue|default|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|switch|this|throw|true|try|type|typeof|undefined|while|yield)\b/,
  ],
  ['number', number],
];

const markup: Grammar = [
  ['comment', /<!--(?:[^-]|-(?!->))*(?:-->)?/],
  ['word', /<[/!?]?[\w:-]+|[/?]?>/],
  ['option', /(?<![\w:-])[\w:-]+(?==")/],
  ['string', doubleQuoted],
];

const grammars = joinGrammars({
  sh: [
    ['comment', /(?<![^\s])#.*/],
    ['string', /'[^']*'?/],
    ['string', /"(?:\\[\s\S]|[^"\\])*"?/],
    ['name', /\$\{?\w+\}?|\b[A-Z_][A-Z0-9_]*(?==)/],
    ['option', /(?<=\s)--?[A-Za-z][\w-]*/],
    ['word', /[a-z](?<=(?:^|[|;&(])[ \t]*[a-z])[\w./-]*/m],
  ],
  json: [
    ['string', doubleQuoted],
    ['word', /\b(?:true|false|null)\b/],
    ['number', number],
  ],
  yaml: [
    ['comment', /(?<![^\s])#.*/],
    ['name', /^[ \t]*(?:- )?[\w./-]+(?=:(?:\s|$))/m],
    ['string', singleQuoted],
    ['string', doubleQuoted],
    ['word', /\b(?:true|false|null)\b/],
    ['number', number],
  ],
  http: [
    ['word', /^(?:HTTP\/[\d.]+ \d+|(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) .*)/m],
    ['name', /^[\w-]+(?=: )/m],
  ],
  js: script,
  ts: script,
  html: markup,
  xml: markup,
});

function joinGrammars(byName: Readonly<Record<string, Grammar>>) {
  return new Map(
    Object.entries(byName).map(([name, grammar]) => {
      const groups = grammar.map(([, { source }]) => `(${source})`);
      const kinds = grammar.map(([kind]) => kind);
      return [name, { kinds, pattern: new RegExp(groups.join('|'), 'gm') }] as const;
    }),
  );
}

/** Renders code as HTML: a `span` with a class such as `t-comment` for each token. */
export function highlight(code: string, language: string): string {
  const grammar = grammars.get(language);
  if (grammar === undefined) return escapeHtml(code);
  const shown: string[] = [];
  let end = 0;
  for (const match of code.matchAll(grammar.pattern)) {
    const at = match.slice(1).findIndex((group) => group !== undefined);
    const kind = grammar.kinds[at] ?? 'word';
    shown.push(escapeHtml(code.slice(end, match.index)));
    end = match.index + match[0].length;
    const isName = kind === 'string' && language === 'json' && isColonAt(code, end);
    shown.push(`<span class="t-${isName ? 'name' : kind}">${escapeHtml(match[0])}</span>`);
  }
  return `${shown.join('')}${escapeHtml(code.slice(end))}`;
}

function isColonAt(code: string, at: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = at;
  return colon.test(code);
}

/** Guesses the language from the first line; returns `text` if it is unknown. */
export function guessLanguage(output: string): string {
  if (/^[[{]/.test(output)) return 'json';
  return /^(?:HTTP\/|[\w-]+: )/.test(output) ? 'http' : 'text';
}
