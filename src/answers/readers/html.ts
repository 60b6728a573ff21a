import { type DefaultTreeAdapterTypes, parse, defaultTreeAdapter as tree } from 'parse5';
import { type Block, type ReadFile, SectionBuilder, toRowText } from './section.ts';

/** Parses HTML, repaired as browsers do. Skips non-content such as navigation and scripts. */
export function readHtml(text: string): ReadFile {
  const reader = new HtmlReader();
  reader.takeAll(parse(text, { sourceCodeLocationInfo: true }));
  return reader.sections.finish(reader.title || reader.firstHeading, text);
}

type Node = DefaultTreeAdapterTypes.ChildNode;
type Parent = DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));
const skipped = setOf('script style nav footer noscript template svg button select form');
const kinds: Readonly<Record<string, Block['kind']>> = { li: 'item', dd: 'item', tr: 'row' };
const blocks = setOf('p li dt dd tr pre blockquote caption figcaption');
const containers = setOf('ul ol dl table pre p div blockquote');
const maxDepth = 200;

class HtmlReader {
  readonly sections = new SectionBuilder();
  title = '';
  firstHeading = '';
  /** Joined texts of the last `<dt>` elements, for the `<dd>` element that follows. */
  #term = '';

  takeAll(parent: Parent, depth = 0): void {
    if (depth > maxDepth) return;
    for (const node of parent.childNodes) this.#take(node, depth);
  }

  #take(node: Node, depth: number): void {
    if (tree.isTextNode(node)) this.#addLoose(node);
    else if (!tree.isElementNode(node) || skipped.has(node.tagName)) return;
    else if (node.tagName === 'title') this.title = textOf(node);
    else if (/^h[1-6]$/.test(node.tagName)) this.#startSection(node);
    else if (blocks.has(node.tagName)) this.#addBlock(node, depth);
    else this.takeAll(node, depth + 1);
  }

  #startSection(node: Element): void {
    const text = textOf(node);
    if (text === '') return;
    this.firstHeading ||= text;
    const line = node.sourceCodeLocation?.startLine ?? 1;
    this.sections.startSection({ level: Number(node.tagName.slice(1)), text, line });
  }

  #addLoose({ value, sourceCodeLocation }: DefaultTreeAdapterTypes.TextNode): void {
    const text = squeeze(value);
    const { startLine: line = 1, endLine = line } = sourceCodeLocation ?? {};
    if (text.length > 1) this.sections.add({ kind: 'text', text, line, endLine });
  }

  #addBlock(node: Element, depth: number): void {
    const { startLine: line = 1, endLine = line } = node.sourceCodeLocation ?? {};
    if (node.tagName === 'dt') {
      this.#term = [this.#term, textOf(node)].filter((term) => term !== '').join(', ');
      return;
    }
    if (node.tagName === 'pre') {
      const text = rawTextOf(node).replace(/^\n/, '').trimEnd();
      this.sections.add({ kind: 'code', text, line, endLine });
      return;
    }
    const { lead, rest } =
      node.tagName === 'tr' ? { lead: rowOf(node), rest: [] } : splitLead(node);
    const term = node.tagName === 'dd' ? this.#term : '';
    if (term !== '') this.#term = '';
    const text = [term, lead].filter((part) => part !== '').join(': ');
    this.sections.add({ kind: kinds[node.tagName] ?? 'text', text, line, endLine });
    for (const child of rest) this.#take(child, depth + 1);
  }
}

const squeeze = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const isContainer = (node: Node) => tree.isElementNode(node) && containers.has(node.tagName);

function splitLead(node: Element): { readonly lead: string; readonly rest: readonly Node[] } {
  const found = node.childNodes.findIndex(isContainer);
  const at = found < 0 ? node.childNodes.length : found;
  const lead = squeeze(node.childNodes.slice(0, at).map(markedText).join(''));
  const rest = node.childNodes.slice(at);
  const [first, ...others] = rest;
  if (lead !== '' || first === undefined || !tree.isElementNode(first)) return { lead, rest };
  if (first.tagName !== 'p' && first.tagName !== 'div') return { lead, rest };
  const inner = splitLead(first);
  return { lead: inner.lead, rest: [...inner.rest, ...others] };
}

function rowOf(row: Element): string {
  return toRowText(row.childNodes.filter(tree.isElementNode).map(textOf));
}

function textOf(node: Parent): string {
  return squeeze(node.childNodes.map(markedText).join(''));
}

function markedText(node: Node): string {
  if (tree.isTextNode(node)) return node.value;
  if (!tree.isElementNode(node) || skipped.has(node.tagName)) return '';
  const text = node.childNodes.map(markedText).join('');
  const isCode = ['code', 'tt', 'kbd', 'samp'].includes(node.tagName);
  if (isCode && text.trim() !== '' && !text.includes('`')) return `\`${text}\``;
  return node.tagName === 'br' ? ' ' : text;
}

function rawTextOf(node: Node | Parent): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(rawTextOf).join('') : '';
}
