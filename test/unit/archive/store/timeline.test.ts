import { describe, expect, it } from 'vitest';
import type { Post } from '../../../../src/model/post.ts';
import { failureOf } from '../../../suites/provider-suite.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import {
  ask,
  openRig,
  playBack,
  putAccount,
  putPost,
  putTombstone,
  type Rig,
  readPages,
  stored,
} from './archive-rig.ts';

const start = 1_767_225_600;
const ids = (posts: readonly Post[]) => posts.map(({ id }) => id);
const replyTo = (handle: string | null) => ({
  replying_to: { screen_name: handle, status: '1', url: null },
});
const finch = { author: stubAccount('Finch') };

function putRepost(
  { store }: Rig,
  id: number | string,
  at: number,
  { by = 'wren', of = 'finch' } = {},
) {
  store.putRepost({
    platform: 'x',
    handle: by,
    postHandle: of,
    postId: String(id),
    created: start + at,
    stored,
  });
}

function openWren(): Rig {
  const rig = openRig();
  putAccount(rig.store, 'Wren');
  return rig;
}

describe('the timeline of an account', () => {
  it('has its posts, newest first, and the time they were stored', async () => {
    const rig = openWren();
    for (const id of [5, 3, 9]) putPost(rig.store, id);
    putPost(rig.store, 7, finch);

    const page = await ask(rig.archive).timeline('wren');

    expect(ids(page.items)).toEqual(['9', '5', '3']);
    expect(page).toMatchObject({ cursor: null, warnings: [], asOfMs: stored * 1000 });
  });

  it('excludes replies to others on request, or has only these, and keeps own threads', async () => {
    const rig = openWren();
    putPost(rig.store, 1);
    putPost(rig.store, 2, replyTo('WREN'));
    putPost(rig.store, 3, replyTo('finch'));
    putPost(rig.store, 4, replyTo(null));

    const { timeline } = ask(rig.archive);

    const only = { onlyReplies: true, withReposts: false } as const;
    expect(ids((await timeline('wren', { withReplies: false })).items)).toEqual(['2', '1']);
    expect(ids((await timeline('wren')).items)).toEqual(['4', '3', '2', '1']);
    expect(ids((await timeline('wren', only)).items)).toEqual(['4', '3']);
  });

  it('has reposted originals at the time of the repost on request', async () => {
    const rig = openWren();
    const original = putPost(rig.store, 2, finch);
    putPost(rig.store, 5);
    putPost(rig.store, 9);
    putRepost(rig, 2, 7);

    const { timeline } = ask(rig.archive);
    const { items } = await timeline('wren');

    expect(ids(items)).toEqual(['9', '2', '5']);
    expect(items[1]).toEqual({ ...original, reposted_by: stubAccount('Wren') });
    expect(ids((await timeline('wren', { withReposts: false })).items)).toEqual(['9', '5']);
    expect(ids((await timeline('wren', { untilSeconds: start + 7 })).items)).toEqual(['5']);
    expect(ids((await timeline('wren', { untilSeconds: start + 8 })).items)).toEqual(['2', '5']);
  });

  it('has an own post once, even if the account reposted it', async () => {
    const rig = openWren();
    putPost(rig.store, 1);
    putRepost(rig, 1, 50, { of: 'wren' });

    const { items } = await ask(rig.archive).timeline('wren');

    expect(ids(items)).toEqual(['1']);
    expect(items[0]).toMatchObject({ reposted_by: null });
  });

  it('has a repost once, at its newest time', async () => {
    const rig = openWren();
    putPost(rig.store, 1, finch);
    putPost(rig.store, 30);
    putRepost(rig, 1, 20);
    putRepost(rig, 1, 40);

    expect(ids((await ask(rig.archive).timeline('wren')).items)).toEqual(['1', '30']);
  });

  it('has no deleted posts, and no reposts of posts that are missing, deleted or protected', async () => {
    const rig = openWren();
    putAccount(rig.store, 'Owl', { protected: true });
    putPost(rig.store, 1, { author: stubAccount('Owl') });
    putTombstone(rig.store, 2, 'finch');
    putTombstone(rig.store, 4);
    putPost(rig.store, 5);
    putRepost(rig, 1, 10, { of: 'owl' });
    putRepost(rig, 2, 11);
    putRepost(rig, 3, 12);

    expect(ids((await ask(rig.archive).timeline('wren')).items)).toEqual(['5']);
  });

  it('moves a post after a correction of its time', async () => {
    const rig = openWren();
    for (const id of [1, 2, 3]) putPost(rig.store, id, { text: `word${id}` });
    putPost(rig.store, 1, { created_timestamp: start + 10, text: 'other' });

    const { timeline, search } = ask(rig.archive);

    expect(ids((await timeline('wren')).items)).toEqual(['1', '3', '2']);
    expect(ids((await search('other')).items)).toEqual(['1']);
    expect((await search('word1')).items).toEqual([]);
  });

  it('has a stable order of posts of the same second', async () => {
    const rig = openWren();
    for (let id = 100; id < 300; id++) putPost(rig.store, id, { created_timestamp: start });

    const { timeline } = ask(rig.archive);
    const all = await timeline('wren', { count: 200 });
    const items = await readPages({
      sizes: [7],
      page: (cursor, count) => timeline('wren', { cursor, count }),
    });

    expect(new Set(ids(all.items)).size).toBe(200);
    expect(items).toEqual(all.items);
  });

  it('rejects a foreign cursor', async () => {
    const rig = openWren();

    for (const cursor of ['', ' ', '1.2', 'é', 'zzzzzzzzzzzz', '-1', '"']) {
      const failure = await failureOf(ask(rig.archive).timeline('wren', { cursor }));
      expect(failure.kind).toBe('malformed');
    }
  });

  it('contains every post once, whatever changes between pages', async () => {
    const id = fc.integer({ min: 1, max: 300 });
    const isRepost = (one: number) => one % 3 === 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(id, { minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.array(fc.tuple(fc.boolean(), id), { maxLength: 6 }), { maxLength: 8 }),
        async (posts, sizes, changes) => {
          const rig = openWren();
          const put = (one: number) => {
            putPost(rig.store, one, isRepost(one) ? finch : {});
            if (isRepost(one)) putRepost(rig, one, one + 20);
          };
          for (const one of posts) put(one);
          const { timeline } = ask(rig.archive);
          const before = ids((await timeline('wren', { count: 1000 })).items);
          const { removed, between } = playBack(changes, {
            put,
            remove: (one) => putTombstone(rig.store, one, isRepost(one) ? 'finch' : 'wren'),
          });

          const page = (cursor: string | null, count: number) =>
            timeline('wren', { cursor, count });
          const items = ids(await readPages({ sizes, page, between }));

          expect(new Set(items).size).toBe(items.length);
          const stayed = before.filter((one) => !removed.has(Number(one)));
          expect(items.filter((one) => stayed.includes(one))).toEqual(stayed);
        },
      ),
      { numRuns: runs(25) },
    );
  });
});
