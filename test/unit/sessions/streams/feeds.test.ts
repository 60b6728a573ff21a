import { describe, expect, it } from 'vitest';
import { startSession } from '../../../../src/sessions/store/state.ts';
import type { Commit, StoredEvent } from '../../../../src/sessions/store/store.ts';
import { createFeeds } from '../../../../src/sessions/streams/feeds.ts';

const { record } = startSession(
  { id: 'ses_a', owner: null, client: null },
  { deliveryId: 'dlv_a', text: 'q', nowMs: 0 },
);

function eventsFrom(first: number, lengths: readonly number[]): readonly StoredEvent[] {
  return lengths.map((length, at) => ({ index: first + at, line: 'x'.repeat(length) }));
}

function commitOf(events: readonly StoredEvent[], id = 'ses_a'): Commit {
  const last = events.at(-1)?.index ?? -1;
  return new Map([[id, { record: { ...record, events: last + 1 }, events }]]);
}

/** A source in which no event is long. */
const sourceOf = (read: () => readonly StoredEvent[] = () => []) => ({
  readEvents: async () => read(),
  readPart: async () => undefined,
});

const at = (index: number) => ({ index, offset: 0 });

const reader = (cursor = 0) => ({ cursor, wake: () => undefined });

describe('the feed of a session', () => {
  it('gives readers at the same place the same bytes', () => {
    const feeds = createFeeds(sourceOf());
    const feed = feeds.join('ses_a', reader());
    feeds.publish(commitOf(eventsFrom(3, [2, 3])));

    const piece = feed.piece(at(3), null);

    expect(piece?.bytes.toString()).toBe('xx\nxxx\n');
    expect(piece?.next.index).toBe(5);
    expect(feed.piece(at(3), null)).toBe(piece);
    expect(feed.piece(at(4), null)?.bytes.toString()).toBe('xxx\n');
    expect([feed.piece(at(2), null), feed.piece(at(5), null)]).toEqual([null, null]);
  });

  it('grows with what is recorded', () => {
    const feeds = createFeeds(sourceOf());
    const feed = feeds.join('ses_a', reader());
    feeds.publish(commitOf(eventsFrom(0, [1])));
    expect(feed.piece(at(0), null)?.next.index).toBe(1);

    feeds.publish(commitOf(eventsFrom(1, [1])));

    expect(feed.piece(at(0), null)?.next.index).toBe(2);
    expect(feed.record?.events).toBe(2);
  });

  it('has no event that is longer than a piece, nor what came before it', () => {
    const feeds = createFeeds(sourceOf());
    const feed = feeds.join('ses_a', reader());
    feeds.publish(commitOf(eventsFrom(0, [1, 2])));

    feeds.publish(commitOf(eventsFrom(2, [3, 65_537, 4, 5])));

    const held = [0, 1, 2, 3, 4, 5].map((index) => feed.piece(at(index), null)?.next.index);
    expect(held).toEqual([undefined, undefined, undefined, undefined, 6, 6]);
  });

  it('wakes its readers, and no others', () => {
    const feeds = createFeeds(sourceOf());
    const woken: string[] = [];
    for (const id of ['ses_a', 'ses_b', 'ses_a']) {
      feeds.join(id, { cursor: 0, wake: () => void woken.push(id) });
    }

    feeds.publish(commitOf(eventsFrom(0, [1]), 'ses_a'));

    expect(woken).toEqual(['ses_a', 'ses_a']);
  });

  it('holds a quarter of a megabyte at most, the newest', () => {
    const feeds = createFeeds(sourceOf());
    const feed = feeds.join('ses_a', reader());

    for (let index = 0; index < 100; index += 1) {
      feeds.publish(commitOf(eventsFrom(index, [10_000])));
    }

    const held = Array.from({ length: 100 }, (_, index) => feed.piece(at(index), null) !== null);
    expect(held.filter((isHeld) => isHeld)).toHaveLength(26);
    expect(held.at(-1)).toBe(true);
    expect(held.indexOf(true)).toBe(74);
  });

  it('lets all of a session go where all sessions together hold too much', () => {
    const feeds = createFeeds(sourceOf());
    const open = Array.from({ length: 140 }, (_, n) => feeds.join(`ses_${n}`, reader()));

    for (const { sessionId } of open) {
      feeds.publish(commitOf(eventsFrom(0, [62_500, 62_500, 62_500, 62_500]), sessionId));
    }

    const held = open.filter((feed) => feed.piece(at(0), null) !== null);
    expect(held).toHaveLength(134); // 33,554,432 characters
  });

  it('lets go what every reader has, and forgets a session that nobody reads', () => {
    const feeds = createFeeds(sourceOf());
    const [slow, fast] = [
      { cursor: 1, wake: () => undefined },
      { cursor: 3, wake: () => undefined },
    ];
    const feed = feeds.join('ses_a', slow);
    feeds.join('ses_a', fast);
    feeds.publish(commitOf(eventsFrom(0, [1, 1, 1])));

    feeds.trim();
    expect([feed.piece(at(0), null), feed.piece(at(1), null)?.next.index]).toEqual([null, 3]);
    slow.cursor = 3;
    feeds.trim();
    expect(feed.piece(at(2), null)).toBeNull();
    feeds.leave(feed, slow);
    feeds.leave(feed, fast);
    expect([...feeds.all()]).toEqual([]);
  });

  it('forgets what was read of a session that is purged', async () => {
    let events = eventsFrom(0, [1]);
    const feeds = createFeeds(sourceOf(() => events));
    const feed = feeds.join('ses_a', reader());
    await feed.recorded(at(0), null);
    const before = await feed.recorded(at(0), null);
    events = [];
    expect(await feed.recorded(at(0), null)).toBe(before);

    feeds.publish(new Map([['ses_a', { record: undefined, events: [] }]]));

    expect(await feed.recorded(at(0), null)).toBeNull();
  });
});
