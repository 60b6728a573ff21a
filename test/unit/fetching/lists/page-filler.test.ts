import { describe, expect, it } from 'vitest';
import { type ListPosition, startOfList } from '../../../../src/fetching/lists/fetch-page.ts';
import {
  type FilledPage,
  fillPage,
  type ReadPage,
} from '../../../../src/fetching/lists/page-filler.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import type { Post } from '../../../../src/model/post.ts';
import type { Page } from '../../../../src/model/queries.ts';
import { stubPost } from '../../../support/stub-provider.ts';

type PageFacts = Partial<Omit<Page<Post>, 'items'>>;

function page(
  ids: readonly (number | string)[],
  cursor: string | null,
  facts: PageFacts = {},
): Page<Post> {
  return { items: ids.map((id) => stubPost(String(id))), cursor, warnings: [], ...facts };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Creates a source with a sequence of pages per cursor. The last page of a sequence repeats. */
function sourceOf(pages: Readonly<Record<string, readonly (Page<Post> | Problem)[]>>) {
  const requests: string[] = [];
  const source: ReadPage = async ({ cursor }) => {
    const name = cursor ?? 'start';
    requests.push(name);
    const times = requests.filter((one) => one === name).length;
    const answer = pages[name]?.at(Math.min(times, pages[name].length) - 1);
    if (answer === undefined) throw new Error(`There is no page ${name}.`);
    if (answer instanceof Problem) throw answer;
    return { page: answer, source: 'fake', degraded: false, isLocal: false, requestedMs: 0 };
  };
  return { source, requests };
}

interface From {
  readonly position?: ListPosition | null;
  readonly sent?: readonly number[] | undefined;
  readonly isNewestFirst?: boolean;
}

async function go(source: ReadPage, limit: number, from: From = {}): Promise<FilledPage> {
  const { position = startOfList, isNewestFirst = true } = from;
  const sent = 'sent' in from ? from.sent : [];
  const start = { position: position ?? startOfList, sent, isNewestFirst };
  return fillPage(source, { ...start, skip: 0, limit, page: 1 });
}

const idsOf = ({ items }: FilledPage) => items.map(({ id }) => Number(id));
const down = new Problem('upstream_unavailable', { detail: 'It is down.' });

describe('a list of posts whose ids are unique per server', () => {
  const postOf = (host: string): Post => ({
    ...stubPost('7'),
    platform: 'mastodon',
    url: `https://${host}/@mira/7`,
  });

  it('has two posts with the same id, each once', async () => {
    const items = [postOf('reef.example.org'), postOf('kelp.example.net')];
    const { source } = sourceOf({
      start: [{ items, cursor: 'next', warnings: [] }],
      next: [{ items, cursor: null, warnings: [] }],
    });

    expect(idsOf(await go(source, 10))).toEqual([7, 7]);
  });
});

describe('a list that continues within a source page', () => {
  it('stays on a page that returns fewer items than were taken from it', async () => {
    const whole = page(range(0, 40), 'next');
    const { source } = sourceOf({
      start: [whole, ...Array(6).fill(page(range(0, 10), 'next')), whole],
      next: [page(range(40, 60), null)],
    });

    const first = await go(source, 20);
    const second = await go(source, 20, { position: first.next, sent: first.sent });
    const third = await go(source, 20, { position: second.next, sent: second.sent });

    expect(idsOf(first)).toEqual(range(0, 20));
    expect([idsOf(second), second.warnings.length]).toEqual([[], 1]);
    expect(idsOf(third)).toEqual(range(20, 40));
  });

  it('continues if the page is short again', async () => {
    const { source } = sourceOf({
      start: [page(range(0, 40), 'next'), page(range(0, 10), 'next')],
      next: [page(range(40, 60), null)],
    });

    const first = await go(source, 20);
    const second = await go(source, 20, { position: first.next, sent: first.sent });
    const third = await go(source, 20, { position: second.next, sent: second.sent });

    expect(idsOf(third)).toEqual(range(40, 60));
  });

  it('continues if the rest of the page was deleted', async () => {
    const { source, requests } = sourceOf({
      start: [page(range(0, 21), 'next'), page(range(0, 20), 'next')],
      next: [page(range(21, 40), null)],
    });

    const first = await go(source, 20);
    const second = await go(source, 20, { position: first.next, sent: first.sent });

    expect(idsOf(second)).toEqual(range(21, 40));
    expect([second.warnings, requests]).toEqual([[], ['start', 'start', 'next']]);
  });

  it.each([true, false])('skips new items on top of a growing list: %s', async (grows) => {
    const { source } = sourceOf({
      start: [page([1, 2, 3, 4, 5, 6], null), page([9, 5, 4, 1, 2, 3, 6], null)],
    });

    const first = await go(source, 2);
    const second = await go(source, 9, {
      position: first.next,
      sent: first.sent,
      isNewestFirst: grows,
    });

    expect(idsOf(second)).toEqual(grows ? [3, 6] : [9, 5, 4, 3, 6]);
  });
});

describe('a list with useless pages', () => {
  it('ends a read early if the source repeats rows under new cursors', async () => {
    const cycle = Object.fromEntries(
      range(0, 400).map((i) => [
        i === 0 ? 'start' : `c${i}`,
        [page(range((i % 3) * 20, (i % 3) * 20 + 20), `c${i + 1}`)],
      ]),
    );
    const { source, requests } = sourceOf(cycle);

    const first = await go(source, 100);
    expect(idsOf(first)).toEqual(range(0, 60));
    expect(requests.length).toBeLessThan(10);
    expect(first.warnings[0]).toContain('empty or repeated pages');

    let filled = await go(source, 100, { position: first.next, sent: undefined });
    const again = idsOf(filled).length;
    while (filled.next !== null) {
      filled = await go(source, 100, { position: filled.next, sent: filled.sent });
      expect(idsOf(filled)).toEqual([]);
    }
    expect(again).toBeLessThanOrEqual(60);
  });

  it('requests a doubtful end again, and accepts it without a warning', async () => {
    const { source, requests } = sourceOf({
      start: [page(range(0, 5), 'next')],
      next: [page([], null, { isDoubtful: true })],
    });

    const filled = await go(source, 20);

    expect([idsOf(filled), filled.next, filled.warnings]).toEqual([range(0, 5), null, []]);
    expect(requests.length).toBe(6);
  });

  it('uses the longest answer for a doubtful page', async () => {
    const { source } = sourceOf({
      start: [page([], null, { isDoubtful: true }), page(range(0, 30), null)],
    });

    expect(idsOf(await go(source, 100))).toEqual(range(0, 30));
  });

  it('accepts a short page that its source does not doubt', async () => {
    const { source, requests } = sourceOf({ start: [page([1], 'next')], next: [page([2], null)] });

    expect(idsOf(await go(source, 2))).toEqual([1, 2]);
    expect(requests).toEqual(['start', 'next']);
  });

  it('stops at a repeated cursor', async () => {
    const { source } = sourceOf({
      start: [page([1], 'a')],
      a: [page([2], 'b')],
      b: [page([3], 'a')],
    });

    const filled = await go(source, 20);

    expect([idsOf(filled), filled.next]).toEqual([[1, 2, 3], null]);
  });
});

describe('a list whose source fails', () => {
  it('keeps the items found, warns, and continues from there', async () => {
    const { source } = sourceOf({
      start: [page(range(0, 10), 'next')],
      next: [down, page(range(10, 20), null)],
    });

    const first = await go(source, 20);
    const second = await go(source, 20, { position: first.next, sent: first.sent });

    expect([idsOf(first), first.isComplete]).toEqual([range(0, 10), false]);
    expect(first.warnings[0]).toContain('It is down.');
    expect([idsOf(second), second.next]).toEqual([range(10, 20), null]);
  });

  it('stays on a doubtful page that could not be requested again', async () => {
    const { source } = sourceOf({
      start: [page([0], 'next', { isDoubtful: true }), down, page(range(0, 10), 'next')],
      next: [page(range(10, 20), null)],
    });

    const first = await go(source, 20);
    const second = await go(source, 20, { position: first.next, sent: first.sent });

    expect([idsOf(first), first.isComplete]).toEqual([[0], false]);
    expect([idsOf(second), second.next]).toEqual([range(1, 20), null]);
  });

  it('skips an empty page after several reads without time for retries', async () => {
    const { source } = sourceOf({
      start: [page(range(0, 20), 'next')],
      next: range(0, 20).map((times) => (times % 2 === 0 ? page([], 'last') : down)),
      last: [page(range(20, 40), null)],
    });
    const results = [await go(source, 20)];
    for (let reads = 0; reads < 9 && results.at(-1)?.next !== null; reads += 1) {
      const { next = null, sent } = results.at(-1) ?? {};
      results.push(await go(source, 20, { position: next, sent }));
    }

    expect(results.flatMap(idsOf)).toEqual(range(0, 40));
    expect(results.at(-1)?.next).toBeNull();
  });

  it('fails if the account is deleted', async () => {
    const gone = new Problem('not_found', { detail: 'It is gone.' });
    const { source } = sourceOf({ start: [page(range(0, 10), 'next')], next: [gone] });

    await expect(go(source, 20)).rejects.toBe(gone);
  });

  it('fails if the first page fails', async () => {
    await expect(go(sourceOf({ start: [down] }).source, 20)).rejects.toBe(down);
  });

  it('fails if the start of a page is unknown', async () => {
    const { source } = sourceOf({ start: [page(range(0, 10), 'next')], next: [down] });
    const start = { position: startOfList, sent: [], isNewestFirst: true };

    const filled = fillPage(source, { ...start, skip: 40, limit: 20, page: 3 });

    await expect(filled).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringContaining('page 3'),
    });
  });
});
