import type { Status } from '../../../model/post.ts';
import { type ExportItem, skipRecord } from '../export-source.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRecords, readRows } from '../records.ts';
import type { Owner } from './actor.ts';
import { findOwnQuote } from './addresses.ts';
import { type ActivityPayload, activity, isPublic, namesRecipients } from './payload.ts';
import { type Activity, idOf, shapePost, shapeRepost } from './shape.ts';

interface OutboxOptions {
  readonly read: ExportFiles['read'];
  /** Reads the file for the second pass, which only outboxes with quotes of own posts need. */
  readonly readAgain: ExportFiles['read'];
  readonly owner: Owner;
}

const start = /"orderedItems"\s*:\s*\[/;

/** Yields the posts and boosts of an outbox in its order; quotes of its own posts come last. */
export async function* readOutbox(
  outbox: ExportFile,
  { read, readAgain, owner }: OutboxOptions,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const quotes = new WaitingQuotes(owner);
  let number = 0;
  for await (const records of readRecords([outbox], { schema: activity, start, read })) {
    yield records.flatMap((record) => {
      number += 1;
      if (record.kind === 'skipped') return [record];
      const item = shape(record.row, owner, `${outbox.name}, record ${number}`);
      const isPost = item.kind === 'post' && record.row.type === 'Create';
      return isPost && quotes.add(record.row) ? [] : [item];
    });
  }
  if (quotes.isEmpty) return;
  for await (const row of readRows([outbox], { schema: activity, start, read: readAgain })) {
    if (row.type === 'Create' && !isHidden(row)) quotes.keep(row);
  }
  yield* quotes.shapeAll();
}

function shape(row: ActivityPayload, owner: Owner, location: string): ExportItem {
  if (isHidden(row)) return { ...skipRecord(location, 'It is not public.'), cause: 'private' };
  const shaped = row.type === 'Announce' ? shapeRepost(row, owner) : shapePost(row, owner);
  return typeof shaped === 'string' ? skipRecord(location, shaped) : shaped;
}

function isHidden(row: ActivityPayload): boolean {
  const naming = (row.type === 'Create' ? [row, row.object] : [row]).filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}

type Create = Activity<'Create'>;

const maxLength = 32 * 2 ** 20;

const groupLength = 100;

/** Posts that wait for a second pass to read the posts of the same outbox that they quote. */
class WaitingQuotes {
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
