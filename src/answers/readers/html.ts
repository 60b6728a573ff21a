import { type DefaultTreeAdapterTypes, parse, defaultTreeAdapter as tree } from 'parse5';
import { countLines, type ReadFile, SectionBuilder } from './section.ts';

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
const kinds = new Map([
  ['li', 'item'],
  ['dd', 'item'],
  ['tr', 'row'],
  ['pre', 'code'],
] as const);
const blocks = new Set(['p', 'li', 'dt', 'dd', 'tr', 'pre', 'blockquote', 'caption', 'figcaption']);
/** Elements that hold blocks, besides the text that they begin with. */
const containers = new Set(['ul', 'ol', 'dl', 'table', 'pre', 'p', 'div', 'blockquote']);
const maxDepth = 200;

class NodeWalk {
  readonly sections = new SectionBuilder();
  title = '';
  firstHeading = '';
  /** A term that waits for its description, as in `<dt>--force</dt><dd>…`. */
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

  /** Text that stands in no block of its own. */
  #addLoose(node: DefaultTreeAdapterTypes.TextNode): void {
    const isTitle =
      tree.isElementNode(node.parentNode as Node) &&
      (node.parentNode as Element).tagName === 'title';
    const text = squeeze(node.value);
    const line = node.sourceCodeLocation?.startLine ?? 1;
    if (!isTitle && text.length > 1)
      this.sections.add({
        kind: 'text',
        text,
        line,
        endLine: node.sourceCodeLocation?.endLine ?? line,
      });
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
    const own = node.tagName === 'tr' ? rowOf(node) : leadOf(node);
    const term = node.tagName === 'dd' ? this.#term : '';
    if (term !== '') this.#term = '';
    const text = [term, own].filter((part) => part !== '').join(': ');
    const kind = kinds.get(node.tagName as 'li') ?? 'text';
    this.sections.add({ kind, text, line, endLine: endLineOf(node) });
    for (const child of innerBlocks(node)) this.#take(child, depth + 1);
  }
}

const lineOf = (node: Element) => node.sourceCodeLocation?.startLine ?? 1;
const endLineOf = (node: Element) => node.sourceCodeLocation?.endLine ?? lineOf(node);
const squeeze = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const isContainer = (node: Node) => tree.isElementNode(node) && containers.has(node.tagName);

/** The text before the first inner block; that of a first paragraph counts as its own. */
function leadOf(node: Element): string {
  const firstBlock = node.childNodes.findIndex(isContainer);
  const own = squeeze(
    node.childNodes
      .slice(0, firstBlock < 0 ? undefined : firstBlock)
      .map(markedText)
      .join(''),
  );
  const first = node.childNodes[firstBlock];
  if (own !== '' || first === undefined || !tree.isElementNode(first)) return own;
  return first.tagName === 'p' || first.tagName === 'div' ? leadOf(first) : '';
}

/** The blocks that `leadOf` has not told. */
function innerBlocks(node: Element): readonly Node[] {
  if (node.tagName === 'tr') return [];
  const firstBlock = node.childNodes.findIndex(isContainer);
  if (firstBlock < 0) return [];
  const own = squeeze(node.childNodes.slice(0, firstBlock).map(markedText).join(''));
  const rest = node.childNodes.slice(firstBlock);
  const [first] = rest;
  const isTold =
    own === '' &&
    first !== undefined &&
    tree.isElementNode(first) &&
    ['p', 'div'].includes(first.tagName);
  if (!isTold) return rest;
  return [...innerBlocks(first), ...rest.slice(1)];
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

function rawTextOf(node: Parent): string {
  return node.childNodes
    .map((child) =>
      tree.isTextNode(child) ? child.value : tree.isElementNode(child) ? rawTextOf(child) : '',
    )
    .join('');
}
