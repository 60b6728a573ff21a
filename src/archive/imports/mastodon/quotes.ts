import type { Status } from '../../../model/post.ts';
import type { ExportItem } from '../export-source.ts';
import type { Owner } from './actor.ts';
import { findOwnQuote } from './addresses.ts';
import { type Activity, idOf, shapePost } from './shape.ts';

type Create = Activity<'Create'>;

const maxLength = 32 * 2 ** 20;

const groupLength = 100;

/** Posts that wait for a second pass to read the posts of the same outbox that they quote. */
export class WaitingQuotes {
  readonly #owner: Owner;
  readonly #waiting: Create[] = [];
  readonly #quoted = new Map<string, Status | null>();
  #length = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a post. Returns `false` if it quotes no post of the outbox or too many posts wait. */
  add(row: Create): boolean {
    const id = findOwnQuote(row.object, this.#owner);
    if (id === null || !this.#takes(row)) return false;
    this.#waiting.push(row);
    this.#quoted.set(id, null);
    return true;
  }

  /** Keeps a public post that a waiting post quotes. Without room for it, it stays a link. */
  keep(row: Create): void {
    const id = idOf(row.object);
    if (id === null || !this.#quoted.has(id) || !this.#takes(row)) return;
    const shaped = shapePost(row, this.#owner);
    if (typeof shaped !== 'string' && shaped.post.type === 'status') {
      this.#quoted.set(id, shaped.post);
    }
  }

  *shapeAll(): Generator<readonly ExportItem[]> {
    for (let from = 0; from < this.#waiting.length; from += groupLength) {
      const rows = this.#waiting.slice(from, from + groupLength);
      yield rows.flatMap((row) => {
        const id = findOwnQuote(row.object, this.#owner);
        const shaped = shapePost(row, this.#owner, this.#quoted.get(id ?? '') ?? null);
        return typeof shaped === 'string' ? [] : [shaped];
      });
    }
  }

  #takes(row: Create): boolean {
    const { length } = JSON.stringify(row);
    if (this.#length + length > maxLength) return false;
    this.#length += length;
    return true;
  }
}
