import { type Token, Tokenizer, TokenizerMode } from 'parse5';

export interface Element {
  readonly name: string;
  readonly attributes: Token.TagToken['attrs'];
  /** Child elements and pieces of text, in order. */
  readonly children: (Element | string)[];
}

const maxDepth = 200; // deeper elements have no children; their content follows them

/**
 * Parses HTML in linear time into a tree without scripts, styles, templates and comments. Closes
 * elements as far as the order of a page's blocks requires it; unlike the HTML standard, it neither
 * moves nor repeats elements.
 */
export function parseHtml(html: string): Element {
  const root: Element = { name: '', attributes: [], children: [] };
  const open = [root];
  const append = (child: Element | string) => void open.at(-1)?.children.push(child);
  const start = (element: Element, isClosed: boolean): void => {
    const { name } = element;
    closeBefore(open, name);
    const mode = rawModes.get(name);
    if (mode !== undefined) tokenizer.state = mode;
    else if (name !== 'template') append(element);
    const hasRoom = open.length <= maxDepth || mode !== undefined;
    if (!isClosed && !voids.has(name) && hasRoom) open.push(element);
  };
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: ({ tagName: name, attrs: attributes, selfClosing }) =>
        start(
          { name, attributes, children: [] },
          selfClosing && open.some((element) => element.name === 'math'),
        ),
      onEndTag: ({ tagName: name }) => {
        if (name === 'br') append({ name, attributes: [], children: [] });
        closeTo(open, name);
      },
      onCharacter: ({ chars }) => append(chars),
      onWhitespaceCharacter: ({ chars }) => append(chars),
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
      onParseError: null,
    },
  );
  tokenizer.write(html, true);
  return root;
}

export const attributeOf = ({ attributes }: Element, name: string): string =>
  attributes.find((attribute) => attribute.name === name)?.value ?? '';

/** Closes what cannot contain the element: for a block, the open link, formula and paragraph. */
function closeBefore(open: Element[], name: string): void {
  if (name === 'a') closeTo(open, 'a');
  if (!blocks.has(name)) return;
  for (const other of ['math', 'a', 'p']) closeTo(open, other);
  const { closed, within } = impliedEnds.get(name) ?? {};
  for (;;) {
    const at = open.findLastIndex((each) => closed?.has(each.name) || within?.has(each.name));
    if (!closed?.has(open[at]?.name ?? '')) return;
    open.length = at;
  }
}

/**
 * Closes the innermost element `name` and all elements in it. Does nothing if `name` is an inline
 * element with an open block element in it, or if the element contains the open cell of a table.
 */
function closeTo(open: Element[], name: string): void {
  const at = open.findLastIndex((element) => element.name === name);
  if (at <= 0) return;
  const isHeld = lastOf(open, cells) > at || (!blocks.has(name) && lastOf(open, blocks) > at);
  if (containers.has(name) || !isHeld) open.length = at;
}

const lastOf = (open: readonly Element[], names: { has(name: string): boolean }): number =>
  open.findLastIndex((element) => names.has(element.name));

const toNames = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Creates a map by name from pairs of a value and the names that have it. */
export const byName = <Value>(...rows: readonly (readonly [Value, string])[]) =>
  new Map(rows.flatMap(([value, names]) => names.split(' ').map((name) => [name, value] as const)));

/** Number of line feeds before and after an HTML block element, by element name. */
export const blocks: ReadonlyMap<string, number> = byName(
  [2, 'p pre blockquote ul ol dl table figure hr h1 h2 h3 h4 h5 h6'],
  [1, 'div li dt dd tr caption section article details summary figcaption'],
  [0, 'td th'],
);

const impliedEnds = byName(
  [{ closed: toNames('li'), within: toNames('ul ol') }, 'li'],
  [{ closed: toNames('dt dd'), within: toNames('dl') }, 'dt dd'],
  [{ closed: toNames('td th caption'), within: toNames('tr table') }, 'td th'],
  [{ closed: toNames('td th tr caption'), within: toNames('table') }, 'tr'],
);

const cells = toNames('td th');

/** Elements that can be closed from within a table cell, and the template, which is no text. */
const containers = toNames('table thead tbody tfoot tr td th caption template');

/** Tokenizer modes for elements whose content is omitted. Tags in the content are text. */
const rawModes = byName<(typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']>(
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.RAWTEXT, 'style iframe noembed noframes noscript'],
  [TokenizerMode.RCDATA, 'textarea title'],
);

const voids = toNames('area base br col embed hr img input link meta param source track wbr');

const maxHead = 131_072; // UTF-16 code units of a page that are searched

/** Returns the `href` of the page's first `rel="alternate"` link of such a type; `null` without. */
export function findAlternateLink(
  html: string,
  isWanted: (contentType: string) => boolean,
): string | null {
  const body = html.search(/<body[\s>]/i);
  const head = parseHtml(html.slice(0, Math.min(body < 0 ? html.length : body, maxHead)));
  const link = findElement(head, (element) => {
    const relations = attributeOf(element, 'rel').toLowerCase().split(/\s+/);
    if (element.name !== 'link' || !relations.includes('alternate')) return false;
    return attributeOf(element, 'href') !== '' && isWanted(attributeOf(element, 'type'));
  });
  return link === null ? null : attributeOf(link, 'href');
}

function findElement(within: Element, isWanted: (element: Element) => boolean): Element | null {
  for (const child of within.children) {
    if (typeof child === 'string') continue;
    const found = isWanted(child) ? child : findElement(child, isWanted);
    if (found !== null) return found;
  }
  return null;
}
