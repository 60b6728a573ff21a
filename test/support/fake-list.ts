import type { Status } from '../../src/model/post.ts';
import type { Page } from '../../src/model/queries.ts';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { stubAccount, stubPost } from './stub-provider.ts';

/** Paging behaviour of an upstream. The functions must be deterministic. */
export interface ListHabits {
  /** Returns the number of rows of the page at an index. */
  readonly pageSize: (index: number) => number;
  /** Returns the indices of earlier items that the page at an index repeats. */
  readonly repeats: (index: number) => readonly number[];
  /** Returns the number of empty pages before the page at an index. */
  readonly emptyBefore: (index: number) => number;
  /** Returns how often a page is sent incomplete before it is sent in full. */
  readonly shortTimes: (index: number) => number;
  /** Whether an item is a repost, which has the time and author of the original. */
  readonly isRepost: (index: number) => boolean;
}

/** Habits with full pages of twenty items. */
export const fullPages: ListHabits = {
  pageSize: () => 20,
  repeats: () => [],
  emptyBefore: () => 0,
  shortTimes: () => 0,
  isRepost: () => false,
};

/** List of an upstream that determines the page sizes. */
export interface FakeList {
  readonly provider: Provider;
  /** Ids of all items in order, including deleted ones. */
  readonly ids: readonly string[];
  /** Number of requests. */
  readonly asked: number;
  /** Deletes an item. */
  remove(id: string): void;
  /** Whether the upstream fails. */
  isDown: boolean;
  /** Adds new items at the top. */
  arrive(count: number): void;
}

/** Creates an upstream with a list of `length` posts. Cursors identify the last row of a page. */
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
      fetch: {
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
    // Positions count from the end, so that they stay valid when items are added at the top.
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

  /** Returns the unique rows of a page: the first one, repeated rows of earlier pages, and the rest. */
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
