import type { Status } from '../../src/model/post.ts';
import type { Page } from '../../src/model/queries.ts';
import { ProviderError } from '../../src/platforms/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { stubAccount, stubPost } from './stub-provider.ts';

/** How an upstream cuts and sends a list. Each function must give the same for the same arguments. */
export interface ListHabits {
  /** The rows of the page that begins at an index. */
  readonly pageSize: (index: number) => number;
  /** Indices of earlier items that the page beginning at an index has once more. */
  readonly repeats: (index: number) => readonly number[];
  /** How many empty pages stand before the page that begins at an index. */
  readonly emptyBefore: (index: number) => number;
  /** How many times a page is sent short before it is sent whole. */
  readonly shortTimes: (index: number) => number;
  /** Whether an item is a repost: then its time and author are somebody else's. */
  readonly isRepost: (index: number) => boolean;
}

/** An upstream that sends whole pages of twenty and has no habits beside. */
export const steady: ListHabits = {
  pageSize: () => 20,
  repeats: () => [],
  emptyBefore: () => 0,
  shortTimes: () => 0,
  isRepost: () => false,
};

/** A list at an upstream that sends it in pages of its own liking. */
export interface FakeList {
  readonly provider: Provider;
  /** The ids of all items, in order; deleted ones included. */
  readonly ids: readonly string[];
  /** How often it was asked. */
  readonly asked: number;
  /** Takes an item out, as its author would. */
  remove(id: string): void;
  /** While true, it does not answer. */
  isDown: boolean;
  /** Puts new items on top. */
  arrive(count: number): void;
}

/** Creates an upstream with a list of `length` posts. Its cursors name the last row of a page. */
export function createFakeList(length: number, habits: ListHabits): FakeList {
  const ids = Array.from({ length }, (_, index) => String(9_000_000 - index));
  const removed = new Set<string>();
  const upstream = new PagedUpstream(ids, removed, habits);
  const read = (cursor: string | null) => {
    if (list.isDown) throw new ProviderError('unavailable', 'It is down.');
    return upstream.read(cursor);
  };
  const list: FakeList = {
    ids,
    isDown: false,
    get asked() {
      return upstream.asked;
    },
    remove: (id) => void removed.add(id),
    arrive: (count) => {
      const first = Number(ids[0]);
      ids.unshift(...Array.from({ length: count }, (_, index) => String(first + count - index)));
    },
    provider: {
      name: 'fake',
      platforms: ['x'],
      reads: new Set(['profile', 'timeline', 'search']),
      covers: (query) => !('platform' in query) || query.platform === 'x',
      ask: {
        profile: async () => ({ account: stubAccount('wren'), warnings: [] }),
        timeline: async ({ cursor }) => read(cursor),
        search: async ({ cursor }) => read(cursor),
      },
    },
  };
  return list;
}

class PagedUpstream {
  asked = 0;
  readonly #ids: readonly string[];
  readonly #removed: ReadonlySet<string>;
  readonly #habits: ListHabits;
  readonly #sent = new Map<number, number>();

  constructor(ids: readonly string[], removed: ReadonlySet<string>, habits: ListHabits) {
    this.#ids = ids;
    this.#removed = removed;
    this.#habits = habits;
  }

  read(cursor: string | null): Page<Status> {
    this.asked += 1;
    // Counted from the end of the list, so that it names the same row when others arrive on top.
    const [left = 0, empties = 0] = (cursor ?? `${this.#ids.length} 0`).split(' ').map(Number);
    const index = this.#ids.length - left;
    if (left > 0 && empties < this.#habits.emptyBefore(index)) {
      return { items: [], cursor: `${left} ${empties + 1}`, warnings: [] };
    }
    return this.#pageFrom(index);
  }

  #pageFrom(index: number): Page<Status> {
    const end = Math.min(index + this.#habits.pageSize(index), this.#ids.length);
    const cursor = end === this.#ids.length ? null : `${this.#ids.length - end} 0`;
    const times = (this.#sent.get(index) ?? 0) + 1;
    this.#sent.set(index, times);
    const rows = this.#rowsOf(index, end);
    const isShort = cursor !== null && times <= this.#habits.shortTimes(index);
    const sent = isShort ? rows.slice(0, times % 2) : rows;
    const items = sent.filter(({ id }) => !this.#removed.has(id));
    const isDoubtful = sent.length < 2 && cursor !== null;
    return { items, cursor, warnings: [], rows: sent.length, isDoubtful };
  }

  /** The rows of a page, each once: the first, what is repeated of earlier pages, and the rest. */
  #rowsOf(index: number, end: number): readonly Status[] {
    const own = Array.from({ length: end - index }, (_, offset) => index + offset);
    const all = [...own.slice(0, 1), ...this.#habits.repeats(index), ...own.slice(1)];
    return [...new Set(all)].map((i) => toPost(i, this.#ids[i] ?? '', this.#habits.isRepost(i)));
  }
}

function toPost(index: number, id: string, isRepost: boolean): Status {
  const created = 1_760_000_000 - index * 60;
  const author = isRepost ? stubAccount(`author${index % 7}`) : stubAccount('wren');
  return stubPost(id, {
    author,
    created_timestamp: isRepost ? created - 5_000_000 : created,
    reposted_by: isRepost ? stubAccount('wren') : null,
  });
}
