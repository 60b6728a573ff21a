import MarkdownIt from 'markdown-it';
import { marked } from 'marked';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { parseUrl } from '../../src/core/http/url.ts';

/** An element of rendered Markdown with its attributes. */
export interface RenderedElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const commonMark = createParser(false);
const linkifying = createParser(true);

function createParser(linkify: boolean) {
  const parser = new MarkdownIt({ html: true, linkify });
  parser.validateLink = () => true;
  // Like the others, it leaves hosts of other scripts as they are.
  parser.normalizeLink = parser.utils.lib.mdurl.encode;
  return parser;
}

/** Renders Markdown as CommonMark, with HTML and links of every kind, and without other extensions than tables. */
export function renderPlainly(markdown: string): string {
  return commonMark.render(markdown);
}

/** Renderers that make links of bare addresses, with HTML and links of every kind. */
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

/** Elements that parsers put at other places within a word: they harm nobody. */
const emphasis: ReadonlySet<string> = new Set(['em', 'strong', 'br']);

/** Returns the elements of HTML but emphasis, written alike where renderers write one thing in two ways. */
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
  // Cells are aligned by `align` or by `style`.
  const own = attrs.filter(() => name !== 'td' && name !== 'th');
  return { name, attributes: Object.fromEntries(own.map((one) => [one.name, toValue(one)])) };
}

/** Renderers percent-encode more or less of an address. Some take Markdown out of descriptions once more. */
function toValue({ name, value }: { readonly name: string; readonly value: string }): string {
  if (name === 'alt') return '';
  if (name !== 'href' && name !== 'src') return value;
  const encoded = value.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  return parseUrl(encoded)?.href ?? encoded;
}
