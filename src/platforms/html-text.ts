import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import type { Facet } from '../model/post.ts';
import { type NameMention, toLinkText } from './link-text.ts';
import { type Margin, type RichText, TextWriter } from './text-writer.ts';

interface HtmlOptions {
  readonly nameMention: NameMention;
  /** CSS classes of elements to omit with their content. */
  readonly omittedClasses?: ReadonlySet<string>;
}

const maxHtmlLength = 262_144; // UTF-16 code units, far above the limits of servers

/** Converts HTML to text and facets (links and styles). Takes linear time, and builds no tree of elements. */
export function toRichText(html: string, options: HtmlOptions): RichText {
  const reader = new HtmlReader(options);
  return reader.read(html.length > maxHtmlLength ? `${html.slice(0, maxHtmlLength)}…` : html);
}

const maxDepth = 200; // tags of deeper elements are ignored

interface OpenElement {
  readonly name: string;
  leave(): void;
}

interface OpenList {
  next: number;
  readonly step: number;
  readonly isOrdered: boolean;
}

interface OpenLink {
  readonly href: string;
  readonly classes: ReadonlySet<string>;
  readonly label: string[];
  isShortened: boolean;
}

const ignored = {
  onNullCharacter() {},
  onComment() {},
  onDoctype() {},
  onEof() {},
  onParseError: null,
};

class HtmlReader {
  readonly #options: HtmlOptions;
  readonly #writer = new TextWriter();
  readonly #tokenizer: Tokenizer;
  readonly #open: OpenElement[] = [];
  readonly #lists: OpenList[] = [];
  /**
   * Number of open elements for each text style. If elements of the same style are nested, only the
   * outermost element creates a facet (styled range).
   */
  readonly #styled = new Map<Facet['type'], number>();
  #link: OpenLink | null = null;
  /** Number of open elements with the CSS class `invisible`. */
  #invisible = 0;
  #omitted = 0;
  #verbatim = 0;
  #isAfterBreak = false;

  constructor(options: HtmlOptions) {
    this.#options = options;
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: false },
      {
        onStartTag: (token) => this.#start(token),
        onEndTag: ({ tagName }) => this.#end(tagName),
        onCharacter: ({ chars }) => this.#text(chars),
        onWhitespaceCharacter: ({ chars }) => this.#text(chars),
        ...ignored,
      },
    );
  }

  read(html: string): RichText {
    // Lone surrogates could combine to a character where two parts of the text are joined.
    this.#tokenizer.write(html.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), true);
    this.#leaveDownTo(0);
    return this.#writer.finish();
  }

  #start(token: Token.TagToken): void {
    const { tagName: name } = token;
    if (name === 'br') this.#breakLine();
    else if (name === 'img') this.#text(attributeOf(token, 'alt'));
    if (blocks.has(name)) this.#startBlock(name);
    if (voids.has(name)) return;
    if (name === 'a') this.#closeTo('a');
    const mode = rawModes.get(name);
    if (mode !== undefined) this.#tokenizer.state = mode;
    if (this.#open.length >= maxDepth && mode === undefined) return;
    this.#open.push({ name, leave: this.#enter(token) });
  }

  /** Opens an HTML element, and returns the function that closes it. */
  #enter(token: Token.TagToken): () => void {
    const { tagName: name } = token;
    const classes = new Set(attributeOf(token, 'class').split(/\s+/));
    if (rawModes.has(name) || this.#isOmitted(classes)) return this.#enterOmitted();
    if (name === 'a') return this.#enterLink(attributeOf(token, 'href'), classes);
    if (name === 'ul' || name === 'ol') return this.#enterList(token);
    if (name === 'li')
      return this.#enterMargin(name, this.#itemMargin(attributeOf(token, 'value')));
    if (name === 'blockquote') return this.#enterMargin(name, { first: '> ', rest: '> ' });
    if (classes.has('invisible')) return this.#enterInvisible();
    if (classes.has('ellipsis')) return () => this.#addEllipsis();
    const style = styles.get(name);
    return style === undefined ? () => this.#endBlock(name) : this.#enterStyle(name, style);
  }

  #isOmitted(classes: ReadonlySet<string>): boolean {
    const { omittedClasses } = this.#options;
    return omittedClasses !== undefined && [...omittedClasses].some((name) => classes.has(name));
  }

  #enterOmitted(): () => void {
    this.#omitted += 1;
    return () => {
      this.#omitted -= 1;
    };
  }

  #enterInvisible(): () => void {
    if (this.#link !== null) this.#link.isShortened = true;
    this.#invisible += 1;
    return () => {
      this.#invisible -= 1;
    };
  }

  #addEllipsis(): void {
    if (this.#link !== null) this.#link.isShortened = true;
    this.#text('…');
  }

  #enterStyle(name: string, type: Facet['type']): () => void {
    const depth = this.#styled.get(type) ?? 0;
    const style = depth === 0 ? this.#writer.openStyle(type) : null;
    this.#styled.set(type, depth + 1);
    if (name === 'pre') this.#verbatim += 1;
    return () => {
      if (name === 'pre') this.#verbatim -= 1;
      this.#styled.set(type, (this.#styled.get(type) ?? 1) - 1);
      if (style !== null) this.#writer.closeStyle(style);
      this.#endBlock(name);
    };
  }

  #enterMargin(name: string, margin: Margin): () => void {
    this.#writer.openMargin(margin);
    return () => {
      this.#writer.closeMargin();
      this.#endBlock(name);
    };
  }

  #enterList(token: Token.TagToken): () => void {
    const step = token.attrs.some(({ name }) => name === 'reversed') ? -1 : 1;
    const next = toNumber(attributeOf(token, 'start')) ?? 1;
    this.#lists.push({ isOrdered: token.tagName === 'ol', next, step });
    return () => {
      this.#lists.pop();
      this.#endBlock(token.tagName);
    };
  }

  #itemMargin(value: string): Margin {
    const list = this.#lists.at(-1);
    if (list === undefined || !list.isOrdered) return { first: '• ', rest: '  ' };
    const number = toNumber(value) ?? list.next;
    list.next = number + list.step;
    const first = `${number}. `;
    return { first, rest: ' '.repeat(first.length) };
  }

  #enterLink(href: string, classes: ReadonlySet<string>): () => void {
    const link: OpenLink = { href, classes, label: [], isShortened: false };
    this.#link = link;
    return () => {
      this.#link = null;
      if (this.#omitted > 0) return;
      const label = link.label.join('').replaceAll('\n', ' ');
      const { text, facet } = toLinkText({ ...link, label }, this.#options.nameMention);
      if (facet === null) this.#writer.write(text);
      else this.#writer.writeLink(text, facet);
    };
  }

  #text(chars: string): void {
    const isAfterBreak = this.#isAfterBreak;
    this.#isAfterBreak = false;
    if (this.#omitted > 0 || this.#invisible > 0) return;
    // Some servers write a line feed after `<br>`. That line feed has no meaning.
    const text = chars.replaceAll('\r', '').slice(isAfterBreak && chars.startsWith('\n') ? 1 : 0);
    if (this.#link !== null) this.#link.label.push(text);
    else if (this.#verbatim > 0) this.#writer.writeVerbatim(text);
    else this.#writer.write(text);
  }

  #breakLine(): void {
    if (this.#omitted > 0) return;
    if (this.#link !== null) this.#link.label.push(' ');
    else this.#writer.breakLine();
    this.#isAfterBreak = true;
  }

  /**
   * Closes the open link and paragraph, then starts the HTML block element `name`. Before a new
   * `li`, also closes the previous `li`.
   */
  #startBlock(name: string): void {
    this.#closeTo('a');
    this.#closeTo('p');
    if (name === 'li') this.#closeItem();
    this.#endBlock(name);
  }

  #endBlock(name: string): void {
    const breaks = blocks.get(name);
    if (breaks === undefined) return;
    const isInner = (name === 'ul' || name === 'ol') && this.#lists.length > 0;
    this.#writer.breakBlock(isInner ? 1 : breaks);
  }

  #closeItem(): void {
    const at = this.#open.findLastIndex(({ name }) => ['li', 'ul', 'ol'].includes(name));
    if (this.#open[at]?.name === 'li') this.#leaveDownTo(at);
  }

  #end(name: string): void {
    if (name === 'br') this.#breakLine();
    this.#closeTo(name);
  }

  /**
   * Closes the innermost open HTML element `name` and all elements in it. Does nothing if `name` is
   * an inline element that contains an open block element.
   */
  #closeTo(name: string): void {
    const at = this.#open.findLastIndex((element) => element.name === name);
    if (at < 0) return;
    const hasOpenBlock = this.#open.findLastIndex((element) => blocks.has(element.name)) > at;
    if (!hasOpenBlock || blocks.has(name)) this.#leaveDownTo(at);
  }

  #leaveDownTo(at: number): void {
    while (this.#open.length > at) this.#open.pop()?.leave();
  }
}

const attributeOf = ({ attrs }: Token.TagToken, name: string): string =>
  attrs.find((attribute) => attribute.name === name)?.value ?? '';

const toNumber = (text: string): number | null => (/^-?\d{1,6}$/.test(text) ? Number(text) : null);

/** Creates a map from rows. Each row has a value, and a text with the keys of this value, separated by spaces. */
const toTable = <Value>(rows: readonly (readonly [Value, string])[]): ReadonlyMap<string, Value> =>
  new Map(rows.flatMap(([value, names]) => names.split(' ').map((name) => [name, value])));

const styles = toTable<Facet['type']>([
  ['bold', 'b strong h1 h2 h3 h4 h5 h6'],
  ['italic', 'i em'],
  ['strikethrough', 'del s strike'],
  ['code', 'code pre tt kbd samp'],
]);

/** Number of line feeds before and after an HTML block element, by element name. */
const blocks = toTable([
  [2, 'p pre blockquote ul ol dl table figure hr h1 h2 h3 h4 h5 h6'],
  [1, 'div li dt dd tr section article details summary figcaption'],
]);

/**
 * Tokenizer modes for HTML elements whose content is omitted. In these modes, tags in the content
 * are treated as text.
 */
const rawModes = toTable<(typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']>([
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.RAWTEXT, 'style iframe noembed noframes'],
  [TokenizerMode.RCDATA, 'textarea title'],
]);

const voids: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
