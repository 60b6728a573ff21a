import type { Facet } from '../model/post.ts';
import { toFormulaText } from './formula.ts';
import { attributeOf, blocks, byName, type Element, parseHtml } from './html-tree.ts';
import { isWebUrl } from './text.ts';
import { type Margin, type RichText, Table, TextWriter } from './text-writer.ts';

/** Function that returns a mention's full handle; `null` if unknown. `label`: visible text. */
export type NameMention = (url: string, label: string) => string | null;

interface HtmlOptions {
  readonly nameMention: NameMention;
  /** CSS class of elements to omit with their content. */
  readonly omittedClass?: string;
}

const maxHtmlLength = 262_144; // UTF-16 code units, far above the limits of servers

/** Converts HTML to text and facets in linear time. */
export function toRichText(html: string, options: HtmlOptions): RichText {
  const bounded = html.length > maxHtmlLength ? `${html.slice(0, maxHtmlLength)}…` : html;
  const writer = new TextWriter();
  const reader = {
    options,
    writer,
    isAfterMath: false,
    isAfterBreak: false,
    hasParentheses: false,
  };
  // Lone surrogates could combine to a character where two parts of the text are joined.
  const root = parseHtml(bounded.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
  readChildren(root, { reader, styles: [] });
  return writer.finish();
}

interface Reader {
  readonly options: HtmlOptions;
  readonly writer: TextWriter;
  isAfterMath: boolean;
  isAfterBreak: boolean;
  /** Whether the last ruby text has its own parentheses (`rp`). */
  hasParentheses: boolean;
}

interface List {
  next: number;
  readonly step: number;
  readonly isOrdered: boolean;
}

interface Link {
  readonly label: string[];
  isShortened: boolean;
}

/** Properties of a text that the elements around it decide. */
interface Place {
  readonly reader: Reader;
  readonly list?: List;
  readonly table?: Table;
  readonly link?: Link;
  readonly shift?: 'sup' | 'sub';
  readonly isInvisible?: boolean;
  readonly isVerbatim?: boolean;
  /** Styles of the elements around. Only the outermost of each creates a facet. */
  readonly styles: readonly Facet['type'][];
}

const styles = byName<Facet['type']>(
  ['bold', 'b strong h1 h2 h3 h4 h5 h6 th'],
  ['italic', 'i em'],
  ['strikethrough', 'del s strike'],
  ['code', 'code pre tt kbd samp'],
);

const readers = byName<typeof readOther>(
  [readBreak, 'br'],
  [readPicture, 'img'],
  [readLink, 'a'],
  [readList, 'ul ol'],
  [readItem, 'li'],
  [readQuotation, 'blockquote'],
  [readTable, 'table'],
  [readRow, 'tr'],
  [readCell, 'td th'],
  [readMath, 'math'],
  [readShifted, 'sup sub'],
  [readQuoted, 'q'],
  [readRuby, 'ruby rp rt'],
);

function readChildren({ children }: Element, place: Place): void {
  for (const child of children) {
    if (typeof child === 'string') write(child, place);
    else readElement(child, place);
  }
}

function readElement(element: Element, place: Place): void {
  const { options, writer, isAfterMath } = place.reader;
  const isInnerList = isList(element) && place.list !== undefined;
  const breaks = isInnerList ? 1 : blocks.get(element.name);
  if (breaks !== undefined) writer.breakBlock(breaks);
  // KaTeX shows each formula a second time, for readers without MathML.
  if (isAfterMath && hasClass(element, 'katex-html')) return;
  if (options.omittedClass !== undefined && hasClass(element, options.omittedClass)) return;
  const read = readers.get(element.name) ?? readOther;
  read(element, place);
  if (breaks !== undefined) writer.breakBlock(breaks);
}

function readOther(element: Element, place: Place): void {
  const isInvisible = hasClass(element, 'invisible');
  const isShortened = isInvisible || hasClass(element, 'ellipsis');
  if (place.link !== undefined) place.link.isShortened ||= isShortened;
  if (isInvisible) readChildren(element, { ...place, isInvisible });
  else if (isShortened) readBetween(element, place, ['', '…']);
  else readStyled(element, place);
}

function readStyled(element: Element, place: Place): void {
  const { writer } = place.reader;
  const inside = element.name === 'pre' ? { ...place, isVerbatim: true } : place;
  const type = styles.get(element.name);
  if (type === undefined || place.styles.includes(type)) {
    readChildren(element, inside);
  } else {
    const style = writer.openStyle(type);
    readChildren(element, { ...inside, styles: [...place.styles, type] });
    writer.closeStyle(style);
  }
}

function readBetween(element: Element, place: Place, [before, after]: readonly [string, string]) {
  if (before !== '') write(before, place);
  readChildren(element, place);
  write(after, place);
}

function readQuoted(element: Element, place: Place): void {
  readBetween(element, place, ['“', '”']);
}

function readPicture(element: Element, place: Place): void {
  write(attributeOf(element, 'alt'), place);
}

function readShifted(element: Element, place: Place): void {
  readChildren(element, { ...place, shift: element.name === 'sup' ? 'sup' : 'sub' });
}

/** Adds parentheses to ruby readings that have none, for readers without ruby. */
function readRuby(element: Element, place: Place): void {
  const { reader } = place;
  if (element.name !== 'rt') reader.hasParentheses = element.name === 'rp';
  if (element.name !== 'rt' || reader.hasParentheses) readChildren(element, place);
  else readBetween(element, place, ['(', ')']);
}

function readMath(element: Element, place: Place): void {
  write(
    toFormulaText(element, (text) => clean(text, place)),
    place,
  );
  place.reader.isAfterMath = true;
}

function readTable(element: Element, place: Place): void {
  const table = new Table(place.reader.writer, place.table);
  readChildren(element, { ...place, table });
  table.close();
}

function readRow(element: Element, place: Place): void {
  place.table?.startRow();
  readChildren(element, place);
  place.table?.endRow();
}

function readCell(element: Element, place: Place): void {
  const { writer } = place.reader;
  place.table?.openCell(spanOf(element, 'colspan'), spanOf(element, 'rowspan'));
  readStyled(element, place);
  writer.breakBlock(0);
  if (place.table !== undefined) writer.closeCell();
}

const spanOf = (cell: Element, name: 'colspan' | 'rowspan'): number =>
  Number.parseInt(attributeOf(cell, name), 10);

function readQuotation(element: Element, place: Place): void {
  readWithMargin(element, place, { first: '> ', rest: '> ' });
}

function readWithMargin(element: Element, place: Place, margin: Margin): void {
  place.reader.writer.openMargin(margin);
  readChildren(element, place);
  place.reader.writer.closeMargin();
}

/** Lines of an item begin with a bullet or its number, then spaces. */
function readItem(element: Element, place: Place): void {
  const first = place.list?.isOrdered ? nextNumber(element, place.list) : '• ';
  readWithMargin(element, place, { first, rest: ' '.repeat(first.length) });
}

function nextNumber(item: Element, list: List): string {
  const number = toNumber(attributeOf(item, 'value')) ?? list.next;
  list.next = number + list.step;
  return `${number}. `;
}

function readList(element: Element, place: Place): void {
  const isReversed = element.attributes.some(({ name }) => name === 'reversed');
  const list = {
    isOrdered: element.name === 'ol',
    next: toNumber(attributeOf(element, 'start')) ?? (isReversed ? countItems(element) : 1),
    step: isReversed ? -1 : 1,
  };
  readChildren(element, { ...place, list });
}

function countItems({ children }: Element): number {
  const inner = children.filter((child) => typeof child === 'object').filter((it) => !isList(it));
  const own = inner.filter(({ name }) => name === 'li').length;
  return inner.reduce((sum, child) => sum + countItems(child), own);
}

const toNumber = (text: string): number | null => (/^-?\d{1,6}$/.test(text) ? Number(text) : null);

function readLink(element: Element, place: Place): void {
  const { writer, options } = place.reader;
  const link: Link = { label: [], isShortened: false };
  readChildren(element, { ...place, link });
  const label = link.label.join('').replaceAll('\n', ' ');
  const url = attributeOf(element, 'href').trim();
  const type = toLinkType(element, label);
  if (!isWebUrl(url) || label.trim() === '') writer.write(label);
  else if (type === 'hashtag') writer.writeLink(label, { type, url });
  else if (type === 'mention') {
    const handle = options.nameMention(url, label);
    writer.writeLink(handle === null ? label : `@${handle}`, { type, url });
  } else {
    const isAddress = link.isShortened || isWebUrl(label.trim());
    writer.writeLink(isAddress ? toOneWord(url) : label, { type, url });
  }
}

function toLinkType(link: Element, label: string): 'hashtag' | 'mention' | 'link' {
  const isMention = hasClass(link, 'mention');
  if (hasClass(link, 'hashtag') || (isMention && label.startsWith('#'))) return 'hashtag';
  return isMention || (hasClass(link, 'u-url') && label.startsWith('@')) ? 'mention' : 'link';
}

/** Percent-encodes a URL with white space, which would end it within a text. */
const toOneWord = (url: string): string => (/\s/.test(url) ? new URL(url).href : url);

function readBreak(_: Element, { reader, link }: Place): void {
  if (link === undefined) reader.writer.breakLine();
  else link.label.push(' ');
  reader.isAfterBreak = true;
}

function write(text: string, place: Place): void {
  const { reader, link, isVerbatim } = place;
  const written = clean(text, place);
  if (written.trim() !== '') reader.isAfterMath = false;
  if (link !== undefined) link.label.push(written);
  else if (isVerbatim) reader.writer.writeVerbatim(written);
  else reader.writer.write(written);
}

function clean(text: string, { reader, shift, isInvisible }: Place): string {
  const { isAfterBreak } = reader;
  reader.isAfterBreak = false;
  if (isInvisible) return '';
  // Some servers write a line feed after `<br>`. That line feed has no meaning.
  const start = isAfterBreak && text.startsWith('\n') ? 1 : 0;
  const written = text.replaceAll('\r', '').slice(start);
  return shift === undefined ? written : shiftText(written, shift);
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ';
const subscripts = '₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙ';
const shiftable = '0123456789+-−=()n';

/** Raises or lowers numbers and signs, as `10<sup>6</sup>` is not 106. Keeps other texts. */
function shiftText(text: string, element: 'sup' | 'sub'): string {
  if (!/^[\d+\-−=()n]+$/.test(text)) return text;
  const shifted = element === 'sup' ? superscripts : subscripts;
  return text.replaceAll(/./g, (character) => shifted[shiftable.indexOf(character)] ?? character);
}

const isList = ({ name }: Element): boolean => name === 'ul' || name === 'ol';

function hasClass(element: Element, name: string): boolean {
  const classes = attributeOf(element, 'class');
  return classes.includes(name) && classes.split(/\s+/).includes(name);
}
