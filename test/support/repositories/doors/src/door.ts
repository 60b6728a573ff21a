import { readKey } from './keys.ts';

/** Options of a door. */
export interface DoorOptions {
  /** How wide the door is, in centimetres. Default: 80. */
  readonly width?: number;
}

/** A door that a key opens. */
export class Door {
  readonly #options: DoorOptions;

  constructor(options: DoorOptions = {}) {
    this.#options = options;
  }

  /** Opens the door. Returns how wide it is. */
  unlatch(key: string): number {
    if (readKey(key) === undefined) throw new Error(`The key ${key} does not fit into this lock.`);
    return this.#options.width ?? 80;
  }
}
