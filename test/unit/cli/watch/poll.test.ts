import { describe, expect, it } from 'vitest';
import {
  type Memory,
  maxRemembered,
  type Poll,
  pollAgain,
  pollFirst,
  remember,
} from '../../../../src/cli/watch/poll.ts';
import type { Target } from '../../../../src/cli/watch/targets.ts';
import type { Status } from '../../../../src/model/post.ts';
import { reads } from '../../../../src/reads/index.ts';
import { fc } from '../../../support/fast-check.ts';
import { createListReader } from '../../../support/list-reader.ts';
import { ada, bo, status } from '../../../support/render-posts.ts';

const target: Target = { name: '@ada.example', read: reads.getProfile, parameters: {} };
const none = { kind: 'backlog', count: 0 } as const;
const nowMs = Date.UTC(2026, 5, 1);

/** Creates posts with the times 10, 20, …, newest first. */
function createPosts(count: number): readonly Status[] {
  return Array.from({ length: count }, (_, index) => createPost(10 * (count - index)));
}

let ids = 0;

function createPost(seconds: number, told: Partial<Status> = {}): Status {
  ids += 1;
  return { ...status(ids, ada, 'Fog.', told), created_timestamp: seconds };
}

const idsOf = ({ newItems }: Pick<Poll, 'newItems'>) => newItems.map(({ post }) => post.id);

async function startList(count: number) {
  const { list, reader } = createListReader(createPosts(count));
  const first = await pollFirst(target, reader, { start: none, nowMs });
  return { list, reader, memory: first.memory };
}

describe('the first read of a list', () => {
  it('remembers the posts without a post to deliver', async () => {
    const { memory } = await startList(30);

    expect(memory.seen.size).toBe(20);
    expect(memory.floor).toBe(110);
  });

  it('does not use the time of a pinned post as the floor', async () => {
    const { list, reader } = createListReader(createPosts(30));
    list.pinned = list.posts.at(-1) ?? null;

    const { memory } = await pollFirst(target, reader, { start: none, nowMs });

    expect(memory.floor).toBe(110);
  });

  it('delivers the newest posts in their order, with a pinned post at its place', async () => {
    const { list, reader } = createListReader(createPosts(5));
    list.pinned = list.posts.at(-1) ?? null;
    const start = { kind: 'backlog', count: 10 } as const;

    const first = await pollFirst(target, reader, { start, nowMs });

    expect(idsOf(first)).toEqual(list.posts.map(({ id }) => id).toReversed());
  });

  it('delivers the rest of the newest posts after a crash', async () => {
    const { list, reader } = createListReader(createPosts(60));
    const start = { kind: 'backlog', count: 45 } as const;
    const first = await pollFirst(target, reader, { start, nowMs });
    const crashed = remember(first.memory, first.newItems.slice(0, 7));

    const rest = await pollAgain(target, reader, crashed);

    expect(idsOf(rest)).toEqual(idsOf(first).slice(7));
    expect(idsOf(first)).toEqual(
      list.posts
        .slice(0, 45)
        .map(({ id }) => id)
        .toReversed(),
    );
  });
});

describe('later reads of a list', () => {
  it('deliver the first posts of an empty account', async () => {
    const { list, reader, memory } = await startList(0);
    list.posts = [createPost(nowMs / 1000), createPost(nowMs / 1000 - 60)];

    expect(idsOf(await pollAgain(target, reader, memory))).toHaveLength(2);
  });

  it('read one page if there is nothing new', async () => {
    const { list, reader, memory } = await startList(200);
    list.pages = 0;

    await pollAgain(target, reader, memory);

    expect(list.pages).toBe(1);
  });

  it('deliver posts after one with a time in the far future', async () => {
    const { list, reader, memory } = await startList(30);
    const future = createPost(9_000_000_000);
    list.posts = [future, ...list.posts];
    const first = await pollAgain(target, reader, memory);
    const known = remember(first.memory, first.newItems);
    const next = createPost(310);
    list.posts = [next, ...list.posts];

    expect(idsOf(first)).toEqual([future.id]);
    expect(idsOf(await pollAgain(target, reader, known))).toEqual([next.id]);
  });

  it('fail for results that are not live', async () => {
    const { list, reader, memory } = await startList(30);
    list.degraded = true;

    await expect(pollAgain(target, reader, memory)).rejects.toThrow('could not be read');
  });
});

it('remembers a bounded number of posts, and does not take forgotten ones for new', async () => {
  const { list, reader, memory } = await startList(30);
  let known: Memory = memory;
  for (let round = 0; round < 12; round += 1) {
    const newest = list.posts[0]?.created_timestamp ?? 0;
    const added = Array.from({ length: 100 }, (_, index) => createPost(newest + 1000 - 10 * index));
    list.posts = [...added, ...list.posts];
    const { newItems } = await pollAgain(target, reader, known);
    expect(newItems).toHaveLength(100);
    known = remember(known, newItems);
  }
  list.pinned = list.posts.at(-50) ?? null;

  expect(known.seen.size).toBe(maxRemembered);
  expect(idsOf(await pollAgain(target, reader, known))).toEqual([]);
});

/** List with a watch whose reads are checked. */
class Watched {
  readonly #list;
  readonly #reader;
  #memory: Memory;
  #time: number;
  /** Posts that were published and not yet delivered. */
  readonly #waiting = new Set<Status>();

  constructor({ list, reader, memory }: Awaited<ReturnType<typeof startList>>) {
    this.#list = list;
    this.#reader = reader;
    this.#memory = memory;
    this.#time = list.posts[0]?.created_timestamp ?? 0;
  }

  /** Reads the list, and is killed after some deliveries. */
  async read(deliveries: number): Promise<void> {
    const { newItems } = await pollAgain(target, this.#reader, this.#memory);
    expect(newItems.map(({ post }) => post.id).sort()).toEqual(
      [...this.#waiting].map(({ id }) => id).sort(),
    );
    const delivered = newItems.slice(0, deliveries);
    this.#memory = remember(this.#memory, delivered);
    for (const { post } of delivered) this.#waiting.delete(post);
  }

  publish(count: number, told: Partial<Status> = {}): void {
    for (let added = 0; added < count; added += 1) {
      this.#time += 10;
      this.#add(0, createPost(told.reposted_by === undefined ? this.#time : 5, told));
    }
  }

  /** Adds a post below the newest one, as platforms do that list some posts late. */
  publishLate(): void {
    this.publish(1);
    this.#add(1, createPost(this.#time - 5));
  }

  remove(at: number, count: number): void {
    const { posts } = this.#list;
    const removed = posts.slice(at, Math.max(at, Math.min(at + count, posts.length - 25)));
    this.#list.posts = posts.filter((post) => !removed.includes(post));
    for (const post of removed) this.#waiting.delete(post);
    if (removed.some((post) => post === this.#list.pinned)) this.#list.pinned = null;
  }

  pin(at: number): void {
    this.#list.pinned = this.#list.posts[at] ?? null;
  }

  #add(at: number, post: Status): void {
    this.#list.posts = this.#list.posts.toSpliced(at, 0, post);
    this.#waiting.add(post);
  }
}

type Change = (watched: Watched) => unknown;

const change = fc.oneof<fc.Arbitrary<Change>[]>(
  fc.nat(45).map((count) => (one) => one.publish(count)),
  fc.nat(190).map((count) => (one) => one.publish(count)),
  fc.constant((one) => one.publishLate()),
  fc.nat(5).map((count) => (one) => one.publish(count, { reposted_by: bo })),
  fc.tuple(fc.nat(50), fc.nat(30)).map((range) => (one) => one.remove(...range)),
  fc.nat(60).map((at) => (one) => one.pin(at)),
  fc.nat(60).map((deliveries) => (one) => one.read(deliveries)),
  fc.constant((one) => one.read(Number.POSITIVE_INFINITY)),
);

it('delivers each published post exactly once, for any changes of the list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.array(change), async (count, changes) => {
      const watched = new Watched(await startList(count));

      for (const apply of changes) await apply(watched);

      await watched.read(Number.POSITIVE_INFINITY);
      await watched.read(Number.POSITIVE_INFINITY);
    }),
  );
});

it('recognizes a post on Bluesky after its author has changed the handle', async () => {
  const { list, reader, memory } = await startList(30);
  const name = (handle: string) => {
    const author = { ...ada, id: 'did:plc:ada', screen_name: handle };
    const url = `https://bsky.app/profile/${handle}/post/3k`;
    return { ...createPost(400, { author, url, platform: 'bluesky' }), id: '3k' };
  };
  list.posts = [name('ada.example'), ...list.posts];
  const first = await pollAgain(target, reader, memory);
  list.posts = [name('ada.fenwick.example'), ...list.posts.slice(1)];

  const known = remember(first.memory, first.newItems);

  expect(idsOf(first)).toEqual(['3k']);
  expect(idsOf(await pollAgain(target, reader, known))).toEqual([]);
});
