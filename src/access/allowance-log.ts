/** The owner of a unit that is not spent any more. */
export const noOwner = -1;

const chunkShift = 12;
const chunkUnits = 1 << chunkShift;
const unitBytes = 16;

/**
 * Places count up and wrap at 32 bits, which a server reaches in days. The first is just below the end of the signed
 * range, so that every run of more than a chunk goes over it.
 */
const firstPlace = 2 ** 31 - chunkUnits;

/** Units in a row; a place's slot is its lowest bits. */
interface Chunk {
  readonly times: Float64Array;
  readonly owners: Int32Array;
  /** The place of the same account's next unit; without meaning in its newest. */
  readonly nexts: Int32Array;
}

/**
 * The units of all accounts in the order of time. They share one window, so the oldest of all are the first to come
 * back. Units stand in chunks: added at the end, dropped from the front, never copied to grow.
 *
 * Places are signed numbers of 32 bits that wrap; compare them only for equality.
 */
export class UnitLog {
  readonly #chunks: Chunk[] = [];
  /** The place of the first chunk's first slot. */
  #origin = firstPlace;
  #front = firstPlace;
  #length = 0;

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.#chunks.length * chunkUnits * unitBytes;
  }

  /** Slots in use, those of units that were given back among them. */
  get length(): number {
    return this.#length;
  }

  /** The place of the oldest slot, where there is any. */
  get front(): number {
    return this.#front;
  }

  /** Gives the place that is `distance` slots after the front. */
  placeAt(distance: number): number {
    return (this.#front + distance) | 0;
  }

  /** Whether a place is in use. */
  has(place: number): boolean {
    return (place - this.#front) >>> 0 < this.#length;
  }

  /** Adds a unit and gives its place. Times never go back. */
  push(owner: number, timeMs: number): number {
    const place = this.placeAt(this.#length);
    if ((place - this.#origin) >>> chunkShift === this.#chunks.length)
      this.#chunks.push(createChunk());
    this.#length += 1;
    this.write(place, owner, timeMs);
    return place;
  }

  /** Writes a unit into a place in use. */
  write(place: number, owner: number, timeMs: number): void {
    const { owners, times } = this.#chunkOf(place);
    owners[slotOf(place)] = owner;
    times[slotOf(place)] = timeMs;
  }

  /** Drops the oldest slot. */
  shift(): void {
    this.#front = this.placeAt(1);
    this.#length -= 1;
    if (slotOf(this.#front) !== 0) return;
    this.#chunks.shift();
    this.#origin = this.#front;
  }

  /** Drops the newest slots until `length` are left. */
  truncate(length: number): void {
    this.#length = length;
    const last = this.placeAt(length - 1);
    this.#chunks.length = length === 0 ? 0 : ((last - this.#origin) >>> chunkShift) + 1;
    if (length === 0) this.#origin = this.#front & ~(chunkUnits - 1);
  }

  timeOf(place: number): number {
    return this.#chunkOf(place).times[slotOf(place)] as number;
  }

  /** The account's row, or `noOwner`. */
  ownerOf(place: number): number {
    return this.#chunkOf(place).owners[slotOf(place)] as number;
  }

  setOwner(place: number, owner: number): void {
    this.#chunkOf(place).owners[slotOf(place)] = owner;
  }

  nextOf(place: number): number {
    return this.#chunkOf(place).nexts[slotOf(place)] as number;
  }

  setNext(place: number, next: number): void {
    this.#chunkOf(place).nexts[slotOf(place)] = next;
  }

  #chunkOf(place: number): Chunk {
    // Places in use are covered by the chunks.
    return this.#chunks[(place - this.#origin) >>> chunkShift] as Chunk;
  }
}

function slotOf(place: number): number {
  return place & (chunkUnits - 1);
}

function createChunk(): Chunk {
  return {
    times: new Float64Array(chunkUnits),
    owners: new Int32Array(chunkUnits),
    nexts: new Int32Array(chunkUnits),
  };
}
