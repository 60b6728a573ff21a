import { type DefaultTreeAdapterTypes, parse, defaultTreeAdapter as tree } from 'parse5';
import { type Block, countLines, type ReadFile, SectionBuilder } from './section.ts';

/** Reads HTML as a browser would parse it; what is no content (navigation, scripts) is left out. */
export function readHtml(text: string): ReadFile {
  const document = parse(text, { sourceCodeLocationInfo: true });
  const walk = new NodeWalk();
  walk.takeAll(document);
  return {
    title: walk.title || walk.firstHeading,
    sections: walk.sections.finish(countLines(text)),
  };
}

type Node = DefaultTreeAdapterTypes.ChildNode;
type Parent = DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;

const skipped = new Set([
  'script',
  'style',
  'nav',
  'footer',
  'noscript',
  'template',
  'svg',
  'button',
  'select',
  'form',
]);
const kinds: ReadonlyMap<string, Block['kind']> = new Map([
  ['li', 'item'],
  ['dd', 'item'],
  ['tr', 'row'],
]);
const blocks = new Set(['p', 'li', 'dt', 'dd', 'tr', 'pre', 'blockquote', 'caption', 'figcaption']);
/** Elements with blocks, besides the text that they begin with. */
const containers = new Set(['ul', 'ol', 'dl', 'table', 'pre', 'p', 'div', 'blockquote']);
const maxDepth = 200;

class NodeWalk {
  readonly sections = new SectionBuilder();
  title = '';
  firstHeading = '';
  /** A term whose description follows, as in `<dt>--force</dt><dd>…`. */
  #term = '';

  takeAll(parent: Parent, depth = 0): void {
    if (depth > maxDepth) return;
    for (const node of parent.childNodes) this.#take(node, depth);
  }

  #take(node: Node, depth: number): void {
    if (tree.isTextNode(node)) {
      this.#addLoose(node);
      return;
    }
    if (!tree.isElementNode(node) || skipped.has(node.tagName)) return;
    if (node.tagName === 'title') this.title = textOf(node);
    else if (/^h[1-6]$/.test(node.tagName)) this.#startSection(node);
    else if (blocks.has(node.tagName)) this.#addBlock(node, depth);
    else this.takeAll(node, depth + 1);
  }

  #startSection(node: Element): void {
    const text = textOf(node);
    if (text === '') return;
    this.firstHeading ||= text;
    this.sections.startSection({ level: Number(node.tagName.slice(1)), text, line: lineOf(node) });
  }

  /** Adds text that is in no block of its own. */
  #addLoose({ value, sourceCodeLocation }: DefaultTreeAdapterTypes.TextNode): void {
    const text = squeeze(value);
    const { startLine: line = 1, endLine = line } = sourceCodeLocation ?? {};
    if (text.length > 1) this.sections.add({ kind: 'text', text, line, endLine });
  }

  #addBlock(node: Element, depth: number): void {
    const line = lineOf(node);
    if (node.tagName === 'dt') {
      this.#term = [this.#term, textOf(node)].filter((term) => term !== '').join(', ');
      return;
    }
    if (node.tagName === 'pre') {
      const text = rawTextOf(node).replace(/^\n/, '').trimEnd();
      this.sections.add({ kind: 'code', text, line, endLine: endLineOf(node) });
      return;
    }
    const { lead, rest } =
      node.tagName === 'tr' ? { lead: rowOf(node), rest: [] } : splitLead(node);
    const term = node.tagName === 'dd' ? this.#term : '';
    if (term !== '') this.#term = '';
    const text = [term, lead].filter((part) => part !== '').join(': ');
    const kind = kinds.get(node.tagName) ?? 'text';
    this.sections.add({ kind, text, line, endLine: endLineOf(node) });
    for (const child of rest) this.#take(child, depth + 1);
  }
}

const lineOf = (node: Element) => node.sourceCodeLocation?.startLine ?? 1;
const endLineOf = (node: Element) => node.sourceCodeLocation?.endLine ?? lineOf(node);
const squeeze = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const isContainer = (node: Node) => tree.isElementNode(node) && containers.has(node.tagName);

/**
 * Splits an element into the text before its first inner block and the rest; the text of a first paragraph
 * counts as its own.
 */
function splitLead(node: Element): { readonly lead: string; readonly rest: readonly Node[] } {
  const found = node.childNodes.findIndex(isContainer);
  const at = found < 0 ? node.childNodes.length : found;
  const lead = squeeze(node.childNodes.slice(0, at).map(markedText).join(''));
  const [first, ...others] = node.childNodes.slice(at);
  if (first === undefined) return { lead, rest: [] };
  if (lead !== '' || !tree.isElementNode(first) || !['p', 'div'].includes(first.tagName)) {
    return { lead, rest: [first, ...others] };
  }
  const inner = splitLead(first);
  return { lead: inner.lead, rest: [...inner.rest, ...others] };
}

function rowOf(row: Element): string {
  return row.childNodes
    .filter(tree.isElementNode)
    .map((cell) => textOf(cell))
    .filter((cell) => cell !== '')
    .join(' | ');
}

function textOf(node: Parent): string {
  return squeeze(node.childNodes.map(markedText).join(''));
}

/** Text with code marked as Markdown marks it. */
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
