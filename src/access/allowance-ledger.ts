import { AccountTable, noRow } from './allowance-accounts.ts';
import type { AccountId } from './allowance-hash.ts';
import { noOwner, UnitLog } from './allowance-log.ts';

/** Units that were given back and still have their slots, before slots are moved together. */
const slack = 4096;

/** A unit that was spent. */
export interface Unit {
  readonly id: AccountId;
  /** Where it was written. It may be elsewhere by now. */
  readonly place: number;
  readonly timeMs: number;
}

/**
 * Which units are spent: a log of all in the order of time, through which each account's units form a list from the
 * oldest on. A unit that is given back leaves its slot without an owner, for the list and the log to pass over.
 *
 * It never looks at a clock. Its callers tell it what has expired: `expire` for some of all accounts, so that no call
 * takes long, and `find` for the whole of one, so that what is read of it is exact.
 */
export class UnitLedger {
  readonly #accounts = new AccountTable();
  readonly #log = new UnitLog();
  #units = 0;
  #newestMs = Number.NEGATIVE_INFINITY;

  /** Units that are spent, and those that `expire` has not reached yet. */
  get units(): number {
    return this.#units;
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.#accounts.bytes + this.#log.bytes;
  }

  /** Lets go of the units spent at `sinceMs` or before, of at most `most` slots. */
  expire(sinceMs: number, most: number): void {
    if (this.#log.length > 0 && this.#newestMs <= sinceMs) this.#clear();
    if (this.#accounts.isSparse) this.#accounts.pack((row) => this.#rename(row));
    for (let dropped = 0; dropped < most && this.#log.length > 0; dropped++) {
      const { front } = this.#log;
      const owner = this.#log.ownerOf(front);
      if (owner !== noOwner) {
        if (this.#log.timeOf(front) > sinceMs) return;
        this.#dropOldest(owner);
      }
      this.#log.shift();
    }
  }

  /** Lets go of an account's units spent at `sinceMs` or before; gives its row, or `noRow` where none is left. */
  find(id: AccountId, sinceMs: number): number {
    const row = this.#accounts.find(id);
    while (row !== noRow && this.#log.timeOf(this.#accounts.oldestOf(row)) <= sinceMs) {
      if (this.#dropOldest(row) === 0) return noRow;
    }
    return row;
  }

  /** The units that an account has spent. */
  countOf(row: number): number {
    return row === noRow ? 0 : this.#accounts.countOf(row);
  }

  /** Gives when an account spent a unit; `rank` 0 is its oldest. */
  timeOf(row: number, rank: number): number {
    let place = this.#accounts.oldestOf(row);
    for (let passed = 0; passed < rank; passed++) place = this.#following(place);
    return this.#log.timeOf(place);
  }

  /** Gives when a unit was spent; `rank` 0 is the oldest of all. */
  timeOfAny(rank: number): number {
    let place = this.#log.front;
    for (let left = rank; ; place = (place + 1) | 0) {
      if (this.#log.ownerOf(place) === noOwner) continue;
      if (left === 0) return this.#log.timeOf(place);
      left -= 1;
    }
  }

  /** Spends a unit of an account. */
  add(id: AccountId, timeMs: number): Unit {
    const known = this.#accounts.find(id);
    const place = this.#log.push(known, timeMs);
    if (known === noRow) this.#log.setOwner(place, this.#accounts.add(id, place));
    else {
      this.#log.setNext(this.#accounts.newestOf(known), place);
      this.#accounts.setNewest(known, place);
      this.#accounts.setCount(known, this.#accounts.countOf(known) + 1);
    }
    this.#units += 1;
    this.#newestMs = timeMs;
    return { id, place, timeMs };
  }

  /** Takes back a unit that is spent and has not expired. */
  remove(unit: Unit): void {
    const row = this.#accounts.find(unit.id);
    const place = this.#placeOf(unit, row);
    if (place === this.#accounts.oldestOf(row)) this.#dropOldest(row);
    else this.#drop(row, place);
    if (this.#log.length - this.#units > slack + this.#units / 2) this.#compact();
  }

  /**
   * Finds a unit that may have moved. Units of one account and one instant are alike: each of those who spent them
   * takes one back at most, so it does not matter which.
   */
  #placeOf({ place, timeMs }: Unit, row: number): number {
    const log = this.#log;
    if (log.has(place) && log.ownerOf(place) === row && log.timeOf(place) === timeMs) return place;
    let found = this.#accounts.oldestOf(row);
    while (log.timeOf(found) !== timeMs) found = this.#following(found);
    return found;
  }

  /** Gives the place of the same account's next unit; there must be one. */
  #following(place: number): number {
    let next = this.#log.nextOf(place);
    while (this.#log.ownerOf(next) === noOwner) next = this.#log.nextOf(next);
    return next;
  }

  /** Drops the oldest unit of an account and gives how many it still has. */
  #dropOldest(row: number): number {
    const oldest = this.#accounts.oldestOf(row);
    if (this.#accounts.countOf(row) > 1) this.#accounts.setOldest(row, this.#following(oldest));
    return this.#drop(row, oldest);
  }

  #drop(row: number, place: number): number {
    const left = this.#accounts.countOf(row) - 1;
    this.#log.setOwner(place, noOwner);
    this.#units -= 1;
    if (left === 0) this.#accounts.remove(row);
    else this.#accounts.setCount(row, left);
    return left;
  }

  /** Tells the units of an account that its row is another. */
  #rename(row: number): void {
    let place = this.#accounts.oldestOf(row);
    this.#log.setOwner(place, row);
    for (let left = this.#accounts.countOf(row) - 1; left > 0; left--) {
      place = this.#following(place);
      this.#log.setOwner(place, row);
    }
  }

  /** Moves the units together, in place and in order, and ties the lists anew. */
  #compact(): void {
    let length = 0;
    for (let distance = 0; distance < this.#log.length; distance++) {
      const from = this.#log.placeAt(distance);
      const row = this.#log.ownerOf(from);
      if (row === noOwner) continue;
      const to = this.#log.placeAt(length);
      this.#log.write(to, row, this.#log.timeOf(from));
      // An account's oldest unit is known by its old place. Its new one is no later, so none that follows is taken
      // for it.
      if (this.#accounts.oldestOf(row) === from) this.#accounts.setOldest(row, to);
      else this.#log.setNext(this.#accounts.newestOf(row), to);
      this.#accounts.setNewest(row, to);
      length += 1;
    }
    this.#log.truncate(length);
  }

  #clear(): void {
    this.#accounts.clear();
    this.#log.truncate(0);
    this.#units = 0;
    this.#newestMs = Number.NEGATIVE_INFINITY;
  }
}
