import MarkdownIt from 'markdown-it';
import { marked } from 'marked';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { parseUrl } from '../../src/lib/http/url.ts';

/** Element of rendered Markdown with its attributes. */
export interface RenderedElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const commonMark = createParser(false);
const linkifying = createParser(true);

function createParser(linkify: boolean) {
  const parser = new MarkdownIt({ html: true, linkify });
  parser.validateLink = () => true;
  // Internationalized host names are not changed, as in the other renderers.
  parser.normalizeLink = parser.utils.lib.mdurl.encode;
  return parser;
}

/** Renders CommonMark with tables, and allows HTML and all kinds of links. */
export function renderPlainly(markdown: string): string {
  return commonMark.render(markdown);
}

/** Renderers that link bare URLs, and allow HTML and all kinds of links. */
export const laxRenderers: Readonly<Record<string, (markdown: string) => string>> = {
  'markdown-it with linkify': (markdown) => linkifying.render(markdown),
  'micromark with GFM': (markdown) =>
    micromark(markdown, {
      allowDangerousHtml: true,
      allowDangerousProtocol: true,
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
    }),
  marked: (markdown) => marked.parse(markdown, { async: false, gfm: true }),
  'marked with line breaks': (markdown) => marked.parse(markdown, { async: false, breaks: true }),
};

/** Harmless elements that parsers place differently within a word. */
const emphasis: ReadonlySet<string> = new Set(['em', 'strong', 'br']);

/** Returns the elements of HTML except emphasis, with renderer differences normalized. */
export function elementsOf(html: string): readonly RenderedElement[] {
  return elementsWithin(parseFragment(html)).filter(({ name }) => !emphasis.has(name));
}

type Node = DefaultTreeAdapterTypes.ParentNode;

function elementsWithin(node: Node): readonly RenderedElement[] {
  return node.childNodes.flatMap((child) =>
    'tagName' in child ? [toElement(child), ...elementsWithin(child)] : [],
  );
}

function toElement({ tagName, attrs }: DefaultTreeAdapterTypes.Element): RenderedElement {
  const name = tagName === 's' ? 'del' : tagName;
  // Renderers align cells with `align` or with `style`.
  const own = attrs.filter(() => name !== 'td' && name !== 'th');
  return { name, attributes: Object.fromEntries(own.map((one) => [one.name, toValue(one)])) };
}

/** Normalizes an attribute value. Renderers differ in the percent-encoding of URLs and in Markdown in descriptions. */
function toValue({ name, value }: { readonly name: string; readonly value: string }): string {
  if (name === 'alt') return '';
  if (name !== 'href' && name !== 'src') return value;
  const encoded = value.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  return parseUrl(encoded)?.href ?? encoded;
}
