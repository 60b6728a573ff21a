import { describe, expect, it } from 'vitest';
import {
  type CheckedPage,
  createPageReader,
} from '../../../../src/fetching/histories/page-reader.ts';
import type { Post } from '../../../../src/model/post.ts';
import type { Page } from '../../../../src/model/queries.ts';
import { createLeapingClock } from '../../../support/history-rig.ts';

/** Answer: its number of rows, and whether its last row is at the end of the page. */
interface Sent {
  readonly rows: number;
  readonly isWhole: boolean;
  /** Default: true. */
  readonly isLast?: boolean;
}

const whole = (rows: number): Sent => ({ rows, isWhole: true });
const short = (rows: number): Sent => ({ rows, isWhole: false });

const gone: Post = {
  type: 'tombstone',
  id: null,
  url: null,
  text: 'This post is gone.',
  reason: 'deleted',
  author: null,
  context: null,
  platform: 'x',
};

function toPage({ rows, isWhole, isLast = false }: Sent): Page<Post> {
  return {
    items: Array.from({ length: rows }, (_, index) => ({ ...gone, id: String(index) })),
    rows,
    cursor: isLast ? null : 'next',
    warnings: [],
    span: { fromMs: 2000, toMs: 1000, isWhole },
    ...(rows < 2 && { isDoubtful: true }),
  };
}

/** Reads a page after complete ones. Returns the page and its number of requests. */
async function readAfter(
  before: readonly number[],
  answers: readonly Sent[],
): Promise<CheckedPage & { readonly requests: number }> {
  const queue = [...before.map(whole), ...answers];
  const reader = createPageReader({
    ask: async () => toPage(queue.shift() ?? whole(0)),
    clock: createLeapingClock(),
    deadlineMs: () => Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
  });
  const place = { cursor: 'here', untilSeconds: null };
  for (const _ of before) await reader.read(place);
  const page = await reader.read(place);
  return { ...page, requests: reader.requests - before.length };
}

describe('a page of a timeline', () => {
  it.each([
    ['of 10 rows, before others were read', [], 10],
    ['half as long as the others', [40, 50, 60], 25],
    ['longer than the others', [20], 60],
  ])('is accepted at once if it ends with its last row: %s', async (_, before, rows) => {
    const page = await readAfter(before, [whole(rows)]);

    expect([page.isVerified, page.requests]).toEqual([true, 1]);
  });

  it.each([
    ['of 9 rows, before others were read', [], 9],
    ['less than half as long as the others', [40, 50, 60], 24],
  ])('is requested again although it ends with its last row: %s', async (_, before, rows) => {
    const page = await readAfter(before, [whole(rows), whole(60)]);

    expect([page.isVerified, page.requests, page.page.rows]).toEqual([true, 2, 60]);
  });

  it('is accepted if a second answer agrees', async () => {
    const page = await readAfter([40], [whole(3), whole(3)]);

    expect([page.isVerified, page.requests, page.page.rows]).toEqual([true, 2, 3]);
  });

  it('is requested up to nine times while it is short', async () => {
    const page = await readAfter([40], [...Array.from({ length: 8 }, () => short(1)), whole(40)]);

    expect([page.isVerified, page.requests, page.page.rows]).toEqual([true, 9, 40]);
  });

  it('is not verified if its answers keep changing', async () => {
    const answers = [0, 1, 0, 0, 1, 0, 0, 1, 1].map(short);

    const page = await readAfter([40], answers);

    expect([page.isVerified, page.requests, page.page.rows]).toEqual([false, 9, 1]);
  });

  it('is requested at most five times at the end of the timeline', async () => {
    const last = { ...short(1), isLast: true };

    const page = await readAfter(
      [40],
      Array.from({ length: 9 }, () => last),
    );

    expect([page.isVerified, page.requests]).toEqual([true, 5]);
  });
});
