import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, parseFragment } from 'parse5';
import { fc } from './fast-check.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** An element of a parsed page. */
interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Everything that a reader sees in it. */
  readonly text: string;
}

/** What an HTML parser makes of a text: its elements in document order, and what it objects to. */
interface ParsedHtml {
  readonly elements: readonly Element[];
  readonly text: string;
  /** Comments, doctypes within fragments and the like. */
  readonly others: readonly string[];
  readonly errors: readonly string[];
}

/** Parses HTML as the content of a body. */
export function parseHtml(html: string): ParsedHtml {
  const errors: string[] = [];
  const onParseError = ({ code }: { code: string }) => errors.push(code);
  const parsed = describe(parseFragment(html, { onParseError }));
  // The parser mends a wrong structure silently, with other elements than the ones written.
  const written = [...html.matchAll(/<([a-z]+)/gi)].map(([, tag]) => tag?.toLowerCase());
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

/** The elements that a rendered post may hold, with the attributes that they may have. */
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
};

/** Gives what must not be in a rendered post, in words; empty where all is well. */
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
  const { href, rel } = attributes;
  const isLinked = href === undefined || /^(?:https?:\/\/[^/]|mailto:)/.test(href);
  return [
    ...strange.map((name) => `attribute ${name} of ${tag}`),
    ...(isLinked ? [] : [`address ${href}`]),
    ...(tag === 'a' && rel !== 'nofollow noopener noreferrer' ? [`relation ${rel}`] : []),
  ];
}

/** Takes white space from a text, so that texts can be compared across line breaks and indents. */
export function squeeze(text: string): string {
  return text.replace(/\s+/gu, '');
}

/** Gives what a reader must see of a text that was posted, its white space aside. */
export function visibleText(text: string): string {
  return text
    .replace(/[\p{Cs}\p{Noncharacter_Code_Point}]/gu, '\ufffd')
    .replace(/\p{Cc}/gu, (control) => (/\s|\u0085/u.test(control) ? ' ' : ''));
}

const pieces = [
  ...[
    '<',
    '>',
    '"',
    "'",
    '&',
    '`',
    '=',
    '/',
    ' ',
    '\n',
    '\n\n',
    '\t',
    '\r',
    '\0',
    '\u001b',
    '\u0085',
  ],
  ...[
    '\ud800',
    '\udfff',
    '\ufffe',
    '\u{1fffe}',
    '\u202e',
    '\u2028',
    '\ufeff',
    '\u200d',
    '\u00a0',
    '\u007f',
  ],
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

/** Texts that are rich in what HTML could take for its own. */
export const hostileHtml = fc
  .array(fc.constantFrom(...pieces), { maxLength: 16 })
  .map((chosen) => chosen.join(''));

const schemes = [
  ...['javascript:', 'JavaScript:', ' javascript:', 'java\nscript:', '\u0001javascript:', 'data:'],
  ...['data:text/html,', 'vbscript:', 'file:///', 'blob:', 'about:', '//', '/', '', 'https:', 'x:'],
  ...['https://a.example/', 'http://a.example/', 'https://a.example"', 'mailto:a@b.example?x='],
];

/** Addresses of all kinds, good and evil. */
export const hostileUrl = fc
  .tuple(fc.constantFrom(...schemes), hostileHtml)
  .map(([scheme, rest]) => `${scheme}${rest}`);
