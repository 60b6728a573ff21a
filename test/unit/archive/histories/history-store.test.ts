import { describe, expect, it, onTestFinished } from 'vitest';
import type {
  StoredHistoryPost,
  StoredTimeline,
} from '../../../../src/archive/histories/history-store.ts';
import { openHistoryStore } from '../../../../src/archive/histories/history-store.ts';
import { readSample } from '../../../../src/archive/sample.ts';
import type { Post } from '../../../../src/model/post.ts';
import { baseUrl } from '../store/archive-rig.ts';

const timeline: StoredTimeline = {
  account: { platform: 'x', handle: 'mira_holm' },
  accountId: '7',
  withReplies: true,
  withReposts: true,
};
const sample = readSample()
  .posts.map(({ post }) => post)
  .find(({ type }) => type === 'status') as Post;
const everything = { fromSecond: Number.NEGATIVE_INFINITY, toSecond: 1000 };

function at(second: number, id = `${second}`): StoredHistoryPost {
  const post = { ...sample, id, platform: 'x', quote: null } as Post;
  return { post, second, belowSecond: second, stored: 5000 };
}

function open(maxBytes = 1e9) {
  const historyStore = openHistoryStore({ path: ':memory:', baseUrl, maxBytes });
  onTestFinished(() => historyStore.close());
  const secondsIn = (range = everything, options: Partial<StoredTimeline> = {}, limit = 100) => {
    const part = historyStore.read({ ...timeline, ...options, range, limit });
    return { ranges: part.ranges, seconds: part.posts.map(({ second }) => second) };
  };
  return { historyStore, secondsIn };
}

describe('the history store', () => {
  it('joins adjacent ranges and reads parts of them', async () => {
    const { historyStore, secondsIn } = open();
    await historyStore.put({
      ...timeline,
      ranges: [{ fromSecond: 50, toSecond: 99 }],
      posts: [at(60)],
    });
    await historyStore.put({
      ...timeline,
      ranges: [
        { fromSecond: 100, toSecond: 120 },
        { fromSecond: Number.NEGATIVE_INFINITY, toSecond: 10 },
      ],
      posts: [at(100), at(5)],
    });

    expect(secondsIn()).toEqual({
      ranges: [
        { fromSecond: 50, toSecond: 120 },
        { fromSecond: Number.NEGATIVE_INFINITY, toSecond: 10 },
      ],
      seconds: [100, 60, 5],
    });
    expect(secondsIn({ fromSecond: 60, toSecond: 99 })).toEqual({
      ranges: [{ fromSecond: 60, toSecond: 99 }],
      seconds: [60],
    });
    expect(secondsIn({ fromSecond: 11, toSecond: 49 })).toEqual({ ranges: [], seconds: [] });
  });

  it('cuts the range at the limit of posts', async () => {
    const { historyStore, secondsIn } = open();
    const posts = [at(40), at(30), at(20, 'a'), at(20, 'b'), at(10)];
    await historyStore.put({ ...timeline, ranges: [{ fromSecond: 0, toSecond: 50 }], posts });

    expect(secondsIn(everything, {}, 3)).toEqual({
      ranges: [{ fromSecond: 21, toSecond: 50 }],
      seconds: [40, 30],
    });
  });

  it('replaces posts only within the fetched range', async () => {
    const { historyStore, secondsIn } = open();
    const whole = [{ fromSecond: 0, toSecond: 50 }];
    await historyStore.put({ ...timeline, ranges: whole, posts: [at(40), at(30), at(10)] });

    await historyStore.put({
      ...timeline,
      ranges: [{ fromSecond: 20, toSecond: 35 }],
      posts: [at(25)],
    });

    expect(secondsIn()).toEqual({ ranges: whole, seconds: [40, 25, 10] });
  });

  it('deletes the histories that were fetched the longest ago if it is too large', async () => {
    const text = 'x'.repeat(1000);
    const post = { ...sample, platform: 'x', quote: null, text } as Post;
    const one = Buffer.byteLength(JSON.stringify(post));
    const { historyStore } = open(1000 * (one + 500));
    const put = (handle: string, stored: number, fromSecond = 0) => {
      const posts = Array.from({ length: 300 }, (_, index) => {
        const second = fromSecond + index;
        return { post: { ...post, id: `${second}` } as Post, second, belowSecond: second, stored };
      });
      const ranges = [{ fromSecond, toSecond: fromSecond + 299 }];
      const account = { platform: 'x' as const, handle };
      return historyStore.put({ ...timeline, account, ranges, posts });
    };
    const countPosts = (handle: string) => {
      const account = { platform: 'x' as const, handle };
      const range = { fromSecond: 0, toSecond: 10_000 };
      const part = historyStore.read({ ...timeline, account, range, limit: 10_000 });
      expect(historyStore.has(account)).toBe(part.posts.length > 0);
      return part.posts.length;
    };

    await put('ada', 100);
    await put('wren', 200);
    await put('ada', 300, 1000);
    expect(['ada', 'wren'].map(countPosts)).toEqual([600, 300]);
    await put('ilse', 400);

    expect(['ada', 'wren', 'ilse'].map(countPosts)).toEqual([600, 0, 300]);
  });

  it('deletes a timeline when another account has the handle', async () => {
    const { historyStore, secondsIn } = open();
    const ranges = [{ fromSecond: 0, toSecond: 50 }];
    await historyStore.put({ ...timeline, ranges, posts: [at(40)] });

    expect(secondsIn(everything, { accountId: '8' }).ranges).toEqual([]);
    await historyStore.put({ ...timeline, accountId: '8', ranges, posts: [] });
    expect(secondsIn(everything, { accountId: '8' })).toEqual({ ranges, seconds: [] });
    expect(secondsIn().ranges).toEqual([]);
  });

  it('does not mark a range as complete if it is deleted during the write', async () => {
    const { historyStore, secondsIn } = open();
    const posts = Array.from({ length: 600 }, (_, index) => at(900 - index));
    const writing = historyStore.put({
      ...timeline,
      ranges: [{ fromSecond: 0, toSecond: 950 }],
      posts,
    });

    historyStore.delete(timeline.account);
    await writing;

    expect(secondsIn()).toEqual({ ranges: [], seconds: [] });
    expect(historyStore.has(timeline.account)).toBe(false);
  });
});
