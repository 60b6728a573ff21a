import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import type { Facet } from '../model/post.ts';
import type { Margin, TextWriter } from './text-writer.ts';

interface OpenList {
  next: number;
  readonly step: number;
  readonly isOrdered: boolean;
}

export class Lists {
  readonly #open: OpenList[] = [];
  readonly #itemCounts: readonly number[];
  #started = 0;

  constructor(html: string) {
    // Only a list that counts down needs the number of its items before they are read.
    this.#itemCounts = /\sreversed/i.test(html) ? countItems(html) : [];
  }

  get isInList(): boolean {
    return this.#open.length > 0;
  }

  open(token: Token.TagToken): void {
    const isReversed = token.attrs.some(({ name }) => name === 'reversed');
    const first = isReversed ? (this.#itemCounts[this.#started] ?? 1) : 1;
    this.#started += 1;
    this.#open.push({
      isOrdered: token.tagName === 'ol',
      next: toNumber(attributeOf(token, 'start')) ?? first,
      step: isReversed ? -1 : 1,
    });
  }

  close(): void {
    this.#open.pop();
  }

  /** Returns the prefixes of the next item's lines: a bullet or its number, then spaces. */
  nextMargin(item: Token.TagToken): Margin {
    const list = this.#open.at(-1);
    if (list === undefined || !list.isOrdered) return { first: '• ', rest: '  ' };
    const number = toNumber(attributeOf(item, 'value')) ?? list.next;
    list.next = number + list.step;
    const first = `${number}. `;
    return { first, rest: ' '.repeat(first.length) };
  }
}

function countItems(html: string): readonly number[] {
  const counts: number[] = [];
  const open: number[] = [];
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: ({ tagName }) => {
        const list = open.at(-1);
        if (isList(tagName)) open.push(counts.push(0) - 1);
        else if (tagName === 'li' && list !== undefined) counts[list] = (counts[list] ?? 0) + 1;
      },
      onEndTag: ({ tagName }) => {
        if (isList(tagName)) open.pop();
      },
      onCharacter() {},
      onWhitespaceCharacter() {},
      ...ignored,
    },
  );
  tokenizer.write(html, true);
  return counts;
}

const isList = (name: string): boolean => name === 'ul' || name === 'ol';

export const ignored = {
  onNullCharacter(): void {},
  onComment(): void {},
  onDoctype(): void {},
  onEof(): void {},
  onParseError: null,
};

export const attributeOf = ({ attrs }: Token.TagToken, name: string): string =>
  attrs.find((attribute) => attribute.name === name)?.value ?? '';

const toNumber = (text: string): number | null => (/^-?\d{1,6}$/.test(text) ? Number(text) : null);

interface OpenTable {
  /** Column after the last cell of the current row. */
  column: number;
  /** First column of the current row's last cell; `null` before the first cell. */
  last: number | null;
  /** Number of further rows that a cell of an earlier row covers, for each column. */
  readonly covered: number[];
  /** Length of the text before the table. */
  readonly start: number;
}

const limits = {
  /** Maximum rows or columns of a cell, and columns in which cells that span rows are tracked. */
  span: 50,
  /** Maximum number of separators in a text for columns without a cell of their own. */
  added: 1000,
} as const;

/** Open tables. Writes the separators that keep each cell under the cell with its heading. */
export class Tables {
  readonly #writer: TextWriter;
  readonly #open: OpenTable[] = [];
  #addedLeft: number = limits.added;

  constructor(writer: TextWriter) {
    this.#writer = writer;
  }

  open(): void {
    this.#open.push({ column: 0, last: null, covered: [], start: this.#writer.length });
  }

  close(): void {
    this.endRow();
    if (this.#open.length > 1) this.#writer.endInnerRows();
    this.#open.pop();
  }

  /** Starts a row. The cells before the first row of a table are a row of their own. */
  startRow(): void {
    this.endRow();
    const table = this.#open.at(-1);
    if (table === undefined || this.#open.length === 1) return;
    if (this.#writer.length > table.start) this.#writer.startInnerRow();
  }

  endRow(): void {
    const table = this.#open.at(-1);
    if (this.#open.length === 1) this.#writer.endRow();
    if (table === undefined || table.last === null) return;
    const { covered } = table;
    for (let at = table.column; at < covered.length; at += 1) uncover(covered, at);
    table.column = 0;
    table.last = null;
  }

  /** Starts a cell in the next free column. Returns `false` outside tables. */
  openCell(token: Token.TagToken): boolean {
    const table = this.#open.at(-1);
    if (table === undefined) return false;
    const { last, covered } = table;
    let column = table.column;
    for (; (covered[column] ?? 0) > 0; column += 1) uncover(covered, column);
    this.#writer.openCell(this.#limitSeparators(column - (last ?? 0), last === null ? 0 : 1));
    table.last = column;
    table.column = column + spanOf(token, 'colspan');
    const rows = spanOf(token, 'rowspan') - 1;
    for (let at = column; at < Math.min(table.column, limits.span); at += 1) {
      covered[at] = Math.max(rows, (covered[at] ?? 0) - 1);
    }
    return true;
  }

  #limitSeparators(wanted: number, least: number): number {
    const added = Math.min(wanted - least, this.#addedLeft);
    this.#addedLeft -= added;
    return least + added;
  }
}

function uncover(covered: number[], column: number): void {
  covered[column] = Math.max(0, (covered[column] ?? 0) - 1);
}

function spanOf(token: Token.TagToken, name: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(attributeOf(token, name), 10);
  return span >= 1 ? Math.min(span, limits.span) : 1;
}

const toTable = <Value>(rows: readonly (readonly [Value, string])[]): ReadonlyMap<string, Value> =>
  new Map(rows.flatMap(([value, names]) => names.split(' ').map((name) => [name, value])));

const toNames = (names: string): ReadonlySet<string> => new Set(names.split(' '));

export const styles: ReadonlyMap<string, Facet['type']> = toTable<Facet['type']>([
  ['bold', 'b strong h1 h2 h3 h4 h5 h6 th'],
  ['italic', 'i em'],
  ['strikethrough', 'del s strike'],
  ['code', 'code pre tt kbd samp'],
]);

/** Number of line feeds before and after an HTML block element, by element name. */
export const blocks: ReadonlyMap<string, number> = toTable([
  [2, 'p pre blockquote ul ol dl table figure hr h1 h2 h3 h4 h5 h6'],
  [1, 'div li dt dd tr caption section article details summary figcaption'],
  [0, 'td th'],
]);

interface ImpliedEnds {
  readonly closed: ReadonlySet<string>;
  readonly within: ReadonlySet<string>;
}

export const impliedEnds: ReadonlyMap<string, ImpliedEnds> = toTable([
  [{ closed: toNames('li'), within: toNames('ul ol') }, 'li'],
  [{ closed: toNames('dt dd'), within: toNames('dl') }, 'dt dd'],
  [{ closed: toNames('td th caption'), within: toNames('tr table') }, 'td th'],
  [{ closed: toNames('td th tr caption'), within: toNames('table') }, 'tr'],
]);

export const cells: ReadonlySet<string> = toNames('td th');

/** Elements that can be closed from within a table cell, and the template, which is no text. */
export const containers: ReadonlySet<string> = toNames(
  'table thead tbody tfoot tr td th caption template',
);

/** Tokenizer modes for elements whose content is omitted. Tags in the content are text. */
export const rawModes: ReadonlyMap<
  string,
  (typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']
> = toTable<(typeof TokenizerMode)['RAWTEXT' | 'RCDATA' | 'SCRIPT_DATA']>([
  [TokenizerMode.SCRIPT_DATA, 'script'],
  [TokenizerMode.RAWTEXT, 'style iframe noembed noframes noscript'],
  [TokenizerMode.RCDATA, 'textarea title'],
]);

export const voids: ReadonlySet<string> = toNames(
  'area base br col embed hr img input link meta param source track wbr',
);

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ';
const subscripts = '₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙ';
const shiftable = '0123456789+-−=()n';

/** Raises or lowers numbers and signs, as `10<sup>6</sup>` is not 106. Keeps other texts. */
export function shiftText(text: string, element: 'sup' | 'sub'): string {
  if (!/^[\d+\-−=()n]+$/.test(text)) return text;
  const shifted = element === 'sup' ? superscripts : subscripts;
  return text.replaceAll(/./g, (character) => shifted[shiftable.indexOf(character)] ?? character);
}

/** Operators between the parts of a MathML element, such as base and exponent. */
const operators: ReadonlyMap<string, readonly string[]> = new Map([
  ['msup', ['', '^']],
  ['msub', ['', '_']],
  ['msubsup', ['', '_', '^']],
  ['munder', ['', '_']],
  ['munderover', ['', '_', '^']],
  ['mfrac', ['', '/']],
]);

interface Part {
  text: string;
  /** Whether no space precedes the text. */
  isJoined: boolean;
}

interface OpenElement {
  readonly name: string;
  children: number;
}

type Source = 'shown' | 'annotated' | 'tex';

/** Formula in MathML. Collects the texts of its presentation and of its annotations. */
export class Formula {
  readonly #alternative: string;
  readonly #parts: Readonly<Record<Source, Part[]>> = { shown: [], annotated: [], tex: [] };
  readonly #open: OpenElement[] = [];
  #source: Source = 'shown';

  /** `alternative`: text for readers that show no MathML (`alttext`); can be empty. */
  constructor(alternative: string) {
    this.#alternative = alternative;
  }

  write(text: string): void {
    const written = this.#source === 'tex' ? text : text.trim();
    if (written === '') return;
    this.#parts[this.#source].push({ text: written, isJoined: this.#source === 'tex' });
  }

  /** Opens an element, and returns the function that closes it. */
  enter(name: string): () => void {
    const parent = this.#open.at(-1);
    const parts = this.#parts[this.#source];
    const operator = parent && operators.get(parent.name)?.[parent.children];
    if (parent !== undefined) parent.children += 1;
    this.#open.push({ name, children: 0 });
    const from = parts.length;
    return () => {
      this.#open.pop();
      if (name === 'msqrt') joinParts(parts, from, '√');
      else if (operator !== undefined) joinParts(parts, from, operator);
    };
  }

  /** Opens an annotation, and returns the function that closes it; `null` for unsupported ones. */
  enterAnnotation(name: string, encoding: string): (() => void) | null {
    const source = toSource(name, encoding);
    if (source === null) return null;
    const outer = this.#source;
    this.#source = source;
    this.#open.push({ name, children: 0 });
    return () => {
      this.#open.pop();
      this.#source = outer;
    };
  }

  /** Returns the TeX, otherwise the alternative text, otherwise the parts of a presentation. */
  toText(): string {
    const { tex, annotated, shown } = this.#parts;
    const shownParts = annotated.length > 0 ? annotated : shown;
    return writeParts(tex) || this.#alternative.trim() || writeParts(shownParts);
  }
}

/** Returns which text an annotation contains: https://www.w3.org/TR/mathml-core/#semantics */
function toSource(name: string, encoding: string): Source | null {
  const [type = ''] = encoding.split(';');
  if (name === 'annotation') return /(?:^|[/-])(?:la)?tex$/i.test(type.trim()) ? 'tex' : null;
  const isShown = /^(?:mathml-presentation|application\/mathml-presentation\+xml)$/i;
  return isShown.test(type.trim()) ? 'annotated' : null;
}

function joinParts(parts: readonly Part[], from: number, operator: string): void {
  const [first, last] = [parts[from], parts.at(-1)];
  if (first === undefined || last === undefined) return;
  const isGroup = first.text.startsWith('(') && last.text.endsWith(')');
  if (first !== last && !isGroup) {
    first.text = `(${first.text}`;
    last.text = `${last.text})`;
  }
  first.text = `${operator}${first.text}`;
  first.isJoined ||= operator !== '' && operator !== '√';
}

const writeParts = (parts: readonly Part[]): string =>
  parts
    .map(({ text, isJoined }, at) => (isJoined || at === 0 ? text : ` ${text}`))
    .join('')
    .trim();

const maxHead = 131_072; // UTF-16 code units of a page that are searched

/** Returns the `href` of the page's first `rel="alternate"` link of such a type; `null` without. */
export function findAlternateLink(
  html: string,
  isWanted: (contentType: string) => boolean,
): string | null {
  let found: string | null = null;
  const onStartTag = (token: Token.TagToken) => {
    if (found !== null || token.tagName !== 'link') return;
    const relations = attributeOf(token, 'rel').toLowerCase().split(/\s+/);
    const href = attributeOf(token, 'href');
    if (!relations.includes('alternate') || href === '') return;
    if (isWanted(attributeOf(token, 'type'))) found = href;
  };
  const onText = () => {};
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onEndTag: onText,
      onCharacter: onText,
      onWhitespaceCharacter: onText,
      ...ignored,
      onStartTag,
    },
  );
  const body = html.search(/<body[\s>]/i);
  tokenizer.write(html.slice(0, Math.min(body < 0 ? html.length : body, maxHead)), true);
  return found;
}
