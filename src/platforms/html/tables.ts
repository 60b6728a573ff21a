import type { Token } from 'parse5';
import type { TextWriter } from '../text-writer.ts';
import { attributeOf } from './lists.ts';

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
