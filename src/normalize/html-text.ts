import { type Token, Tokenizer } from 'parse5';
import type { Facet } from '../model/post.ts';
import {
  attributeOf,
  blocks,
  cells,
  containers,
  Formula,
  ignored,
  impliedEnds,
  Lists,
  rawModes,
  shiftText,
  styles,
  Tables,
  voids,
} from './html-elements.ts';
import {
  type Margin,
  type NameMention,
  type RichText,
  TextWriter,
  toLinkText,
} from './text-writer.ts';

interface HtmlOptions {
  readonly nameMention: NameMention;
  /** CSS classes of elements to omit with their content. */
  readonly omittedClasses?: ReadonlySet<string>;
}

const maxHtmlLength = 262_144; // UTF-16 code units, far above the limits of servers

/** Converts HTML to text and facets in linear time, without a tree of elements. */
export function toRichText(html: string, options: HtmlOptions): RichText {
  const bounded = html.length > maxHtmlLength ? `${html.slice(0, maxHtmlLength)}…` : html;
  return new HtmlReader(bounded, options).read(bounded);
}

const maxDepth = 200; // tags of deeper elements are ignored

interface OpenElement {
  readonly name: string;
  leave(): void;
}

interface OpenLink {
  readonly href: string;
  readonly classes: ReadonlySet<string>;
  readonly label: string[];
  isShortened: boolean;
}

class HtmlReader {
  readonly #options: HtmlOptions;
  readonly #writer = new TextWriter();
  readonly #tokenizer: Tokenizer;
  readonly #lists: Lists;
  readonly #open: OpenElement[] = [];
  /** Number of open elements for each style. Only the outermost element creates a facet. */
  readonly #styled = new Map<Facet['type'], number>();
  readonly #tables = new Tables(this.#writer);
  #link: OpenLink | null = null;
  #math: Formula | null = null;
  #isAfterMath = false;
  #shift: 'sup' | 'sub' | null = null;
  /** Whether the open ruby text has its own parentheses (`rp`). */
  #hasParentheses = false;
  #invisible = 0;
  #omitted = 0;
  #verbatim = 0;
  #isAfterBreak = false;

  constructor(html: string, options: HtmlOptions) {
    this.#options = options;
    this.#lists = new Lists(html);
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
    if (token.selfClosing && this.#math !== null) {
      this.#math.enter(name)();
      return;
    }
    if (name === 'a') this.#closeTo('a');
    const mode = rawModes.get(name);
    if (mode !== undefined) this.#tokenizer.state = mode;
    if (this.#open.length >= maxDepth && mode === undefined) return;
    this.#open.push({ name, leave: this.#enter(token) });
  }

  /** Opens an element, and returns the function that closes it. */
  #enter(token: Token.TagToken): () => void {
    const { tagName: name } = token;
    const classes = new Set(attributeOf(token, 'class').split(/\s+/));
    if (rawModes.has(name) || this.#isOmitted(classes)) return this.#enterOmitted();
    if (this.#math !== null) return this.#enterInMath(this.#math, token);
    switch (name) {
      case 'template':
        return this.#enterOmitted();
      case 'a':
        return this.#enterLink(attributeOf(token, 'href'), classes);
      case 'ul':
      case 'ol':
        return this.#enterList(token);
      case 'li':
        return this.#enterMargin(name, this.#lists.nextMargin(token));
      case 'blockquote':
        return this.#enterMargin(name, { first: '> ', rest: '> ' });
      case 'table':
        return this.#enterTable();
      case 'tr':
        return this.#enterRow();
      case 'td':
      case 'th':
        return this.#enterCell(token);
      case 'math':
        return this.#enterMath(attributeOf(token, 'alttext'));
      case 'sup':
      case 'sub':
        return this.#enterShift(name);
      case 'q':
        return this.#enterPair('“', '”');
      case 'rp':
      case 'rt':
      case 'ruby':
        return this.#enterRuby(name);
      default:
        return this.#enterOther(name, classes);
    }
  }

  #enterOther(name: string, classes: ReadonlySet<string>): () => void {
    if (classes.has('invisible')) return this.#enterInvisible();
    if (classes.has('ellipsis')) return () => this.#addEllipsis();
    const style = styles.get(name);
    return style === undefined ? () => this.#endBlock(name) : this.#enterStyle(name, style);
  }

  #isOmitted(classes: ReadonlySet<string>): boolean {
    const { omittedClasses } = this.#options;
    // KaTeX shows each formula a second time, for readers without MathML.
    if (this.#isAfterMath && classes.has('katex-html')) return true;
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

  #enterTable(): () => void {
    this.#tables.open();
    return () => {
      this.#tables.close();
      this.#endBlock('table');
    };
  }

  #enterRow(): () => void {
    this.#tables.startRow();
    return () => {
      this.#tables.endRow();
      this.#endBlock('tr');
    };
  }

  #enterCell(token: Token.TagToken): () => void {
    const isInTable = this.#tables.openCell(token);
    const leave = this.#enterOther(token.tagName, new Set());
    return () => {
      leave();
      if (isInTable) this.#writer.closeCell();
    };
  }

  #enterMath(alternative: string): () => void {
    const math = new Formula(alternative);
    this.#math = math;
    return () => {
      this.#math = null;
      this.#text(math.toText());
      this.#isAfterMath = true;
    };
  }

  #enterInMath(math: Formula, token: Token.TagToken): () => void {
    const { tagName: name } = token;
    if (name !== 'annotation' && name !== 'annotation-xml') return math.enter(name);
    return math.enterAnnotation(name, attributeOf(token, 'encoding')) ?? this.#enterOmitted();
  }

  #enterShift(element: 'sup' | 'sub'): () => void {
    const outer = this.#shift;
    this.#shift = element;
    return () => {
      this.#shift = outer;
    };
  }

  #enterPair(before: string, after: string): () => void {
    this.#text(before);
    return () => this.#text(after);
  }

  /** Adds parentheses to ruby readings that have none, for readers without ruby. */
  #enterRuby(name: 'rp' | 'rt' | 'ruby'): () => void {
    if (name === 'rt' && !this.#hasParentheses) return this.#enterPair('(', ')');
    if (name !== 'rt') this.#hasParentheses = name === 'rp';
    return () => undefined;
  }

  #enterList(token: Token.TagToken): () => void {
    this.#lists.open(token);
    return () => {
      this.#lists.close();
      this.#endBlock(token.tagName);
    };
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
    const written = chars
      .replaceAll('\r', '')
      .slice(isAfterBreak && chars.startsWith('\n') ? 1 : 0);
    this.#put(this.#shift === null ? written : shiftText(written, this.#shift));
  }

  #put(text: string): void {
    if (text.trim() !== '') this.#isAfterMath = false;
    if (this.#math !== null) this.#math.write(text);
    else if (this.#link !== null) this.#link.label.push(text);
    else if (this.#verbatim > 0) this.#writer.writeVerbatim(text);
    else this.#writer.write(text);
  }

  #breakLine(): void {
    if (this.#omitted > 0) return;
    if (this.#link !== null) this.#link.label.push(' ');
    else this.#writer.breakLine();
    this.#isAfterBreak = true;
  }

  /** Closes the open link, formula, paragraph and previous item or cell, then starts a block. */
  #startBlock(name: string): void {
    for (const open of ['math', 'a', 'p']) this.#closeTo(open);
    this.#closeImplied(name);
    this.#endBlock(name);
  }

  #endBlock(name: string): void {
    const breaks = blocks.get(name);
    if (breaks === undefined || this.#omitted > 0) return;
    const isInner = (name === 'ul' || name === 'ol') && this.#lists.isInList;
    this.#writer.breakBlock(isInner ? 1 : breaks);
  }

  #closeImplied(name: string): void {
    const ends = impliedEnds.get(name);
    if (ends === undefined) return;
    const { closed, within } = ends;
    for (;;) {
      const at = this.#open.findLastIndex((open) => closed.has(open.name) || within.has(open.name));
      if (!closed.has(this.#open[at]?.name ?? '')) return;
      this.#leaveDownTo(at);
    }
  }

  #end(name: string): void {
    if (name === 'br') this.#breakLine();
    this.#closeTo(name);
  }

  /**
   * Closes the innermost element `name` and all elements in it. Does nothing if `name` is an inline
   * element with an open block element in it, or if the element contains the open cell of a table.
   */
  #closeTo(name: string): void {
    const at = this.#open.findLastIndex((element) => element.name === name);
    if (at < 0) return;
    if (containers.has(name)) {
      this.#leaveDownTo(at);
      return;
    }
    if (this.#open.findLastIndex((element) => cells.has(element.name)) > at) return;
    const hasOpenBlock = this.#open.findLastIndex((element) => blocks.has(element.name)) > at;
    if (!hasOpenBlock || blocks.has(name)) this.#leaveDownTo(at);
  }

  #leaveDownTo(at: number): void {
    while (this.#open.length > at) this.#open.pop()?.leave();
  }
}
