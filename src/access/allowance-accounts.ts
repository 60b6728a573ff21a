import type { AccountId } from './allowance-hash.ts';

/** The row of an account that is not in the table. */
export const noRow = -1;

const chunkShift = 12;
const chunkRows = 1 << chunkShift;
const smallIndex = 2 * chunkRows;

/** The numbers of a row, side by side so that they share a cache line. */
const hiColumn = 0;
const loColumn = 1;
const countColumn = 2;
const oldestColumn = 3;
const newestColumn = 4;
const columns = 5;

/**
 * The accounts that have units: a row for each, found by its id through an open index. Rows stand in chunks, so the
 * table grows without a copy; only the index (4 bytes for each of at least two slots a row) is written anew.
 *
 * A row has at least one unit, and is removed with its last one. A row without units is free.
 */
export class AccountTable {
  readonly #chunks: Int32Array[] = [];
  /** Row + 1 by hash; 0 is an empty slot. Its length is a power of two. */
  #index = new Int32Array(smallIndex);
  /** Rows taken from the chunks so far, of which `held` are in use and the others free. */
  #taken = 0;
  #held = 0;
  /** The first free row; each names the next as its oldest unit. */
  #free = noRow;

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.#chunks.length * chunkRows * columns * 4 + this.#index.byteLength;
  }

  /** Whether so many rows are free that the table should be packed. */
  get isSparse(): boolean {
    return this.#taken > chunkRows && this.#held * 8 < this.#taken;
  }

  /** Gives the row of an account, or `noRow`. */
  find({ hi, lo }: AccountId): number {
    const mask = this.#index.length - 1;
    for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
      const row = this.#rowIn(slot);
      if (row === noRow) return noRow;
      if (this.#get(row, loColumn) === lo && this.#get(row, hiColumn) === hi) return row;
    }
  }

  /** Adds an account that is not in the table, with its first unit, and gives its row. */
  add({ hi, lo }: AccountId, unit: number): number {
    if ((this.#held + 1) * 2 > this.#index.length) this.#reindex(this.#index.length * 2);
    const row = this.#take();
    this.#set(row, hiColumn, hi);
    this.#set(row, loColumn, lo);
    this.#set(row, countColumn, 1);
    this.#set(row, oldestColumn, unit);
    this.#set(row, newestColumn, unit);
    this.#held += 1;
    this.#enter(row);
    return row;
  }

  /** Removes a row. Others keep theirs. */
  remove(row: number): void {
    this.#leave(row);
    this.#set(row, countColumn, 0);
    this.#set(row, oldestColumn, this.#free);
    this.#free = row;
    this.#held -= 1;
  }

  /** The units that an account has. */
  countOf(row: number): number {
    return this.#get(row, countColumn);
  }

  setCount(row: number, count: number): void {
    this.#set(row, countColumn, count);
  }

  /** The place of an account's oldest unit. */
  oldestOf(row: number): number {
    return this.#get(row, oldestColumn);
  }

  setOldest(row: number, unit: number): void {
    this.#set(row, oldestColumn, unit);
  }

  /** The place of the unit that an account spent last; it may have been given back. */
  newestOf(row: number): number {
    return this.#get(row, newestColumn);
  }

  setNewest(row: number, unit: number): void {
    this.#set(row, newestColumn, unit);
  }

  /**
   * Moves the rows together and lets go of the rest.
   *
   * @param moved Told the new row of each account that has another one now.
   */
  pack(moved: (row: number) => void): void {
    let free = 0;
    for (let row = this.#taken - 1; row >= this.#held; row--) {
      if (this.countOf(row) === 0) continue;
      while (this.countOf(free) > 0) free += 1;
      for (let column = 0; column < columns; column++) {
        this.#set(free, column, this.#get(row, column));
      }
      moved(free);
    }
    this.#taken = this.#held;
    this.#free = noRow;
    this.#chunks.length = Math.ceil(this.#taken / chunkRows);
    this.#reindex(smallestIndex(this.#held));
  }

  /** Removes all rows. */
  clear(): void {
    this.#chunks.length = Math.min(this.#chunks.length, 1);
    this.#taken = 0;
    this.#held = 0;
    this.#free = noRow;
    if (this.#index.length > smallIndex) this.#index = new Int32Array(smallIndex);
    else this.#index.fill(0);
  }

  #take(): number {
    const row = this.#free;
    if (row === noRow) {
      if (this.#taken === this.#chunks.length * chunkRows) {
        this.#chunks.push(new Int32Array(chunkRows * columns));
      }
      this.#taken += 1;
      return this.#taken - 1;
    }
    this.#free = this.#get(row, oldestColumn);
    return row;
  }

  #reindex(length: number): void {
    this.#index = new Int32Array(length);
    for (let row = 0; row < this.#taken; row++) if (this.countOf(row) > 0) this.#enter(row);
  }

  #enter(row: number): void {
    const mask = this.#index.length - 1;
    let slot = this.#get(row, loColumn) & mask;
    while (this.#rowIn(slot) !== noRow) slot = (slot + 1) & mask;
    this.#index[slot] = row + 1;
  }

  /** Empties a row's slot and moves later ones up, so that none is parted from its home by a gap. */
  #leave(row: number): void {
    const mask = this.#index.length - 1;
    let gap = this.#get(row, loColumn) & mask;
    while (this.#rowIn(gap) !== row) gap = (gap + 1) & mask;
    for (let slot = (gap + 1) & mask; this.#rowIn(slot) !== noRow; slot = (slot + 1) & mask) {
      const other = this.#rowIn(slot);
      const home = this.#get(other, loColumn) & mask;
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      this.#index[gap] = other + 1;
      gap = slot;
    }
    this.#index[gap] = 0;
  }

  #rowIn(slot: number): number {
    // Slots are masked to the index's length.
    return (this.#index[slot] as number) - 1;
  }

  #get(row: number, column: number): number {
    return this.#chunkOf(row)[(row & (chunkRows - 1)) * columns + column] as number;
  }

  #set(row: number, column: number, value: number): void {
    this.#chunkOf(row)[(row & (chunkRows - 1)) * columns + column] = value;
  }

  #chunkOf(row: number): Int32Array {
    // Rows are below `taken`, which the chunks cover.
    return this.#chunks[row >>> chunkShift] as Int32Array;
  }
}

function smallestIndex(rows: number): number {
  let length = smallIndex;
  while (length < rows * 2) length *= 2;
  return length;
}
