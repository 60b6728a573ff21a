import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, parseFragment } from 'parse5';
import { fc } from './fast-check.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** Element of a parsed page. */
interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Visible text of the element. */
  readonly text: string;
}

/** Parsed HTML: elements in document order, other nodes and parse errors. */
interface ParsedHtml {
  readonly elements: readonly Element[];
  readonly text: string;
  /** Other nodes, such as comments. */
  readonly others: readonly string[];
  readonly errors: readonly string[];
}

/** Parses HTML as the content of a body. */
export function parseHtml(html: string): ParsedHtml {
  const errors: string[] = [];
  const onParseError = ({ code }: { code: string }) => errors.push(code);
  const parsed = describe(parseFragment(html, { onParseError }));
  // The parser silently repairs an invalid structure with different elements.
  const written = [...html.matchAll(/<([a-z][a-z\d]*)/gi)].map(([, tag]) => tag?.toLowerCase());
  if (written.join() !== parsed.elements.map(({ tag }) => tag).join()) errors.push('mended');
  return { ...parsed, errors };
}

/** Parses HTML as a document. */
export function parsePage(html: string): ParsedHtml {
  const errors: string[] = [];
  const onParseError = ({ code }: { code: string }) => errors.push(code);
  return { ...describe(parse(html, { onParseError })), errors };
}

function describe(root: Parent): Omit<ParsedHtml, 'errors'> {
  const nodes = flatten(root);
  const others = nodes.filter(
    (node) => !defaultTreeAdapter.isElementNode(node) && !defaultTreeAdapter.isTextNode(node),
  );
  return {
    elements: nodes.filter(defaultTreeAdapter.isElementNode).map((node) => ({
      tag: node.tagName,
      attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
      text: textOf(node),
    })),
    text: textOf(root),
    others: others.map(({ nodeName }) => nodeName),
  };
}

function flatten(parent: Parent): Node[] {
  return parent.childNodes.flatMap((node) =>
    'childNodes' in node ? [node, ...flatten(node)] : [node],
  );
}

function textOf(parent: Parent): string {
  return flatten(parent)
    .map((node) => (defaultTreeAdapter.isTextNode(node) ? node.value : ''))
    .join('');
}

const textAttributes = ['dir', 'lang'];

/** Elements allowed in a rendered post, with their allowed attributes. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  blockquote: textAttributes,
  p: textAttributes,
  br: [],
  ul: [],
  li: textAttributes,
  strong: [],
  em: [],
  del: [],
  code: [],
  a: ['href', 'rel'],
  img: ['src', 'alt', 'width', 'height', 'style', 'referrerpolicy'],
};

/** Matches the URL at which a server serves a picture: from its archive, or from another host. */
export const ownPicture =
  /^https?:\/\/[^/]+(?:\/[\w-]+)*\/media\/(?:sha256\/[0-9a-f]{64}|[\w-]{32,})$/;

/** Returns descriptions of unsafe parts in a rendered post; an empty list if it is safe. */
export function findUnsafe({ elements, others, errors }: ParsedHtml): readonly string[] {
  return [
    ...errors.map((code) => `parse error ${code}`),
    ...others.map((name) => `node ${name}`),
    ...elements.flatMap(findUnsafeParts),
  ];
}

function findUnsafeParts({ tag, attributes }: Element): readonly string[] {
  const known = allowed[tag];
  if (known === undefined) return [`element ${tag}`];
  const strange = Object.keys(attributes).filter((name) => !known.includes(name));
  const { href, rel, src } = attributes;
  const isLinked = href === undefined || /^(?:https?:\/\/[^/]|mailto:)/.test(href);
  return [
    ...strange.map((name) => `attribute ${name} of ${tag}`),
    ...(isLinked ? [] : [`address ${href}`]),
    ...(src === undefined || ownPicture.test(src) ? [] : [`address ${src}`]),
    ...(tag === 'a' && rel !== 'nofollow noopener noreferrer' ? [`relation ${rel}`] : []),
  ];
}

/** Removes white space from a text, to compare texts regardless of line breaks and indentation. */
export function squeeze(text: string): string {
  return text.replace(/\s+/gu, '');
}

/** Returns the expected visible text of a post, except for white space. */
export function visibleText(text: string): string {
  return text
    .replace(/[\p{Cs}\p{Noncharacter_Code_Point}]/gu, '\ufffd')
    .replace(/\p{Cc}/gu, (control) => (/\s|\u0085/u.test(control) ? ' ' : ''));
}

const pieces = [
  ...'<>"\'&`=/ \n\t\r\0\u001b\u0085\u202e\u2028\ufeff\u200d\u00a0\u007f\ufffe\u{1fffe}',
  ...['\n\n', '\ud800', '\udfff'],
  ...['abc', 'é', '字', '😀', 'ש', '#tag', '@who', '$CASH', 'https://a.example/?b=1&copy;=2'],
  ...['</blockquote>', '<script>alert(1)</script>', '</title>', '<!--', '-->', '<![CDATA[', ']]>'],
  ...[
    '<img src=x onerror=alert(1)>',
    '"><svg/onload=alert(1)>',
    "' onmouseover='x",
    '<br>',
    '</p>',
  ],
  ...['&lt;script&gt;', '&#60;', '&#x3c', '&amp;', '&quot;', '<style>', '</head>', '<plaintext>'],
];

/** Texts with many characters and fragments that are special in HTML. */
export const hostileHtml = fc
  .array(fc.constantFrom(...pieces), { maxLength: 16 })
  .map((chosen) => chosen.join(''));

const schemes = [
  ...['javascript:', 'JavaScript:', ' javascript:', 'java\nscript:', '\u0001javascript:', 'data:'],
  ...['data:text/html,', 'vbscript:', 'file:///', 'blob:', 'about:', '//', '/', '', 'https:', 'x:'],
  ...['https://a.example/', 'http://a.example/', 'https://a.example"', 'mailto:a@b.example?x='],
];

/** URLs of all kinds, valid and malicious. */
export const hostileUrl = fc
  .tuple(fc.constantFrom(...schemes), hostileHtml)
  .map(([scheme, rest]) => `${scheme}${rest}`);
