import { describe, expect, it } from 'vitest';
import { readSample } from '../../../../src/archive/sample.ts';
import { toOutline } from '../../../../src/fetching/histories/import-history.ts';
import { createFakeTimeline, type Entry } from '../../../support/fake-timeline.ts';
import {
  answerFromMemory,
  createTestImporter,
  wholeHistory,
} from '../../../support/history-rig.ts';

const entries: readonly Entry[] = Array.from({ length: 70 }, (_, index) => ({
  kind: (['post', 'repost', 'reply'] as const)[index % 3] ?? 'post',
  ms: Date.UTC(2026, 10, 20) - index * 3_600_000,
}));
const timeline = createFakeTimeline(entries, {
  pageSize: 20,
  shortShare: 0,
  end: 'null',
  hasPinned: false,
  repeats: false,
});

async function importPosts(isIndex: boolean) {
  const importer = createTestImporter({
    http: answerFromMemory((url) => ({ body: timeline.answer(url, () => 1) })),
  });
  const leaving = new AbortController();
  const { posts } = await importer.begin({ ...wholeHistory, isIndex }, { signal: leaving.signal });
  const found = [];
  for (let step = await posts.next(); step.done !== true; step = await posts.next()) {
    found.push(...step.value);
  }
  return found;
}

describe('the outline of a page', () => {
  it('has the fields that order posts, without texts, media and profiles', () => {
    const posts = readSample().posts.map(({ post }) => post);
    const page = { items: posts, cursor: 'on', rows: 7, warnings: ['One.'] };

    const outline = toOutline(page);

    const statuses = posts.filter((post) => post.type === 'status');
    expect(outline).toMatchObject({ cursor: 'on', rows: 7, warnings: ['One.'] });
    expect(outline.items).toHaveLength(statuses.length);
    for (const [index, post] of outline.items.entries()) {
      const { id, url, created_timestamp, replying_to, platform } = statuses[index] ?? {};
      expect(post).toMatchObject({ id, url, created_timestamp, replying_to, platform, text: '' });
    }
    const json = JSON.stringify(outline.items);
    for (const { author, media } of statuses) {
      const dropped = [author.description, ...media.all.map(({ url }) => url)];
      for (const one of dropped) expect(json).not.toContain(JSON.stringify(one));
    }
  });

  it('is used for all posts of an index, in the same order', async () => {
    const [whole, index] = [await importPosts(false), await importPosts(true)];

    const placesOf = (found: typeof whole) => found.map(({ post, second }) => [post.id, second]);
    expect(placesOf(index)).toEqual(placesOf(whole));
    expect(whole.some(({ post }) => post.text !== '')).toBe(true);
    expect(index.every(({ post }) => post.text === '')).toBe(true);
  });
});
