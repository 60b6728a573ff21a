import type { Facet } from '../model/post.ts';
import { nestRuns } from './runs.ts';
import { countCodePoints } from './text.ts';

export interface RichText {
  readonly text: string;
  readonly facets: readonly Facet[];
}

/** Prefixes of the first and all other lines of a block, such as `> ` for a quotation. */
export interface Margin {
  readonly first: string;
  readonly rest: string;
}

interface OpenStyle {
  readonly type: Facet['type'];
  start: number | null;
}

interface Line extends Margin {
  isUsed: boolean;
}

interface Row {
  /** Number of open cells: more than one if a cell contains a table. */
  cells: number;
  /** Number of separators to write before the next text. */
  separators: number;
  /** Marker of a list item in a cell, to write before the next text. */
  marker: string;
  isSpaced: boolean;
  /** Whether a row of a table within a cell ends before the next text. */
  isAfterInnerRow: boolean;
  hasText: boolean;
}

const emptyRow = { separators: 0, marker: '', isSpaced: false, isAfterInnerRow: false } as const;

const maxMargins = 6; // deeper margins are omitted, so that no line consists only of margins

const maxBreaks = 2;

const limits = {
  /** Maximum rows or columns of a cell, and columns in which cells that span rows are tracked. */
  span: 50,
  /** Maximum number of separators in a text for columns without a cell of their own. */
  added: 1000,
} as const;

/** Writer of a text and its facets, whose offsets count Unicode code points. */
export class TextWriter {
  readonly #parts: string[] = [];
  readonly #facets: Facet[] = [];
  readonly #margins: Line[] = [];
  #waiting: OpenStyle[] = [];
  #length = 0;
  #breaks = 0;
  #atBlockStart = true;
  #hiddenMargins = 0;
  /** Number of margins to write on each empty line before the next line of text. */
  #blankMargins = 0;
  #addedLeft: number = limits.added;
  readonly #row: Row = { ...emptyRow, cells: 0, hasText: false };

  /** Number of Unicode code points. */
  get length(): number {
    return this.#length;
  }

  /** Writes text with its line breaks. Ignores white space at the start of a block. */
  write(text: string): void {
    if (this.#row.cells > 0) {
      this.#writeInCell(text);
      return;
    }
    for (const [at, line] of text.split('\n').entries()) {
      if (at > 0 && !this.#atBlockStart) this.breakLine();
      this.#writeLine(this.#atBlockStart ? line.trimStart() : line);
    }
  }

  /** Writes text unchanged, with all its spaces and line feeds. */
  writeVerbatim(text: string): void {
    for (const [at, line] of text.split('\n').entries()) {
      if (at > 0) this.breakLine();
      this.#writeLine(line);
    }
  }

  writeLink(text: string, facet: Pick<Facet, 'type' | 'url'>): void {
    this.#writeLine(text);
    this.#facets.push({ ...facet, start: this.#length - countCodePoints(text), end: this.#length });
  }

  breakLine(): void {
    this.#break(Math.min(this.#breaks + 1, maxBreaks));
  }

  /** Starts a block. At least `breaks` line breaks precede the block. */
  breakBlock(breaks: number): void {
    this.#break(Math.max(this.#breaks, breaks));
    this.#atBlockStart = true;
  }

  openMargin(margin: Margin): void {
    if (this.#row.cells > 0) {
      this.#row.marker = margin.first === margin.rest ? '' : margin.first;
      this.#hiddenMargins += 1;
    } else if (this.#margins.length >= maxMargins) this.#hiddenMargins += 1;
    else this.#margins.push({ ...margin, isUsed: false });
  }

  closeMargin(): void {
    if (this.#hiddenMargins > 0) this.#hiddenMargins -= 1;
    else this.#margins.pop();
    this.#blankMargins = Math.min(this.#blankMargins, this.#margins.length);
  }

  /**
   * Starts a cell after some separators, and those of columns without a cell of their own (`added`).
   * End it with `closeCell()`, its row with `endRow()`.
   */
  openCell(separators: number, added: number): void {
    const allowed = Math.min(added, this.#addedLeft);
    this.#addedLeft -= allowed;
    this.#row.separators += separators + allowed;
    this.#row.cells += 1;
  }

  closeCell(): void {
    this.#row.cells -= 1;
  }

  /** Keeps the separators of empty cells at the end of the row, unless all cells are empty. */
  endRow(): void {
    const { separators, hasText } = this.#row;
    if (hasText) this.#push(' |'.repeat(separators));
    Object.assign(this.#row, emptyRow, { hasText: false });
  }

  startInnerRow(): void {
    this.#push(' |'.repeat(this.#row.separators));
    Object.assign(this.#row, emptyRow, { isAfterInnerRow: true });
  }

  endInnerRows(): void {
    this.#row.isAfterInnerRow = false;
  }

  openStyle(type: Facet['type']): OpenStyle {
    const style: OpenStyle = { type, start: null };
    this.#waiting.push(style);
    return style;
  }

  /** Ends a style. A style without text creates no facet. */
  closeStyle({ type, start }: OpenStyle): void {
    if (start !== null) this.#facets.push({ type, start, end: this.#length });
  }

  /** Returns the text without white space at its end. */
  finish(): RichText {
    const text = this.#parts.join('').trimEnd();
    const length = countCodePoints(text);
    const clipped = this.#facets.map((facet) => ({ ...facet, end: Math.min(facet.end, length) }));
    return { text, facets: nestRuns(clipped, length) };
  }

  #break(breaks: number): void {
    if (this.#row.cells > 0) {
      this.#row.isSpaced = true;
      return;
    }
    if (this.#breaks === 0) this.#blankMargins = this.#margins.length;
    this.#breaks = breaks;
  }

  #writeLine(line: string): void {
    if (line === '') return;
    this.#startLine();
    if (this.#row.cells > 0) this.#startInCell();
    for (const style of this.#waiting.splice(0)) style.start = this.#length;
    this.#push(line);
  }

  #writeInCell(text: string): void {
    const words = text.trim();
    if (text !== words && !/^\S/.test(text)) this.#row.isSpaced = true;
    this.#writeLine(words.replaceAll(/\s+/g, ' '));
    if (words !== '' && /\s$/.test(text)) this.#row.isSpaced = true;
  }

  #startInCell(): void {
    const { separators, marker, isSpaced, isAfterInnerRow, hasText } = this.#row;
    const line = Array(separators).fill('|').join(' ');
    if (isAfterInnerRow) this.#push('; ');
    else if (hasText && (separators > 0 || isSpaced)) this.#push(' ');
    this.#push(`${line}${separators > 0 ? ' ' : ''}${marker}`);
    Object.assign(this.#row, emptyRow, { hasText: true });
  }

  #startLine(): void {
    this.#atBlockStart = false;
    if (this.#length > 0) {
      if (this.#breaks === 0) return;
      for (let blank = 1; blank < this.#breaks; blank += 1) this.#push(`\n${this.#blankLine()}`);
      this.#push('\n');
    }
    this.#breaks = 0;
    for (const line of this.#margins) {
      this.#push(line.isUsed ? line.rest : line.first);
      line.isUsed = true;
    }
  }

  #blankLine(): string {
    const margins = this.#margins.slice(0, this.#blankMargins).map(({ rest }) => rest);
    return margins.join('').trimEnd();
  }

  #push(text: string): void {
    if (text === '') return;
    this.#parts.push(text);
    this.#length += countCodePoints(text);
  }
}

/** Open table. Writes the separators that keep each cell under the cell with its heading. */
export class Table {
  readonly #writer: TextWriter;
  readonly #isInner: boolean;
  /** Length of the text before the table. */
  readonly #start: number;
  /** Number of further rows that a cell of an earlier row covers, for each column. */
  readonly #covered: number[] = [];
  /** Column after the last cell of the current row. */
  #column = 0;
  /** First column of the current row's last cell; `null` before the first cell. */
  #last: number | null = null;

  /** `outer`: table in a cell of which the table is. */
  constructor(writer: TextWriter, outer: Table | undefined) {
    this.#writer = writer;
    this.#isInner = outer !== undefined;
    this.#start = writer.length;
  }

  close(): void {
    this.endRow();
    if (this.#isInner) this.#writer.endInnerRows();
  }

  /** Starts a row. The cells before the first row of a table are a row of their own. */
  startRow(): void {
    this.endRow();
    if (this.#isInner && this.#writer.length > this.#start) this.#writer.startInnerRow();
  }

  endRow(): void {
    if (!this.#isInner) this.#writer.endRow();
    if (this.#last === null) return;
    for (let at = this.#column; at < this.#covered.length; at += 1) this.#uncover(at);
    this.#column = 0;
    this.#last = null;
  }

  /** Starts a cell in the next free column. Spans that are no numbers count as 1. */
  openCell(columns: number, rows: number): void {
    let column = this.#column;
    for (; (this.#covered[column] ?? 0) > 0; column += 1) this.#uncover(column);
    const least = this.#last === null ? 0 : 1;
    this.#writer.openCell(least, column - (this.#last ?? 0) - least);
    this.#last = column;
    this.#column = column + toSpan(columns);
    for (let at = column; at < Math.min(this.#column, limits.span); at += 1) {
      this.#covered[at] = Math.max(toSpan(rows) - 1, (this.#covered[at] ?? 0) - 1);
    }
  }

  #uncover(column: number): void {
    this.#covered[column] = Math.max(0, (this.#covered[column] ?? 0) - 1);
  }
}

const toSpan = (span: number): number => (span >= 1 ? Math.min(span, limits.span) : 1);
