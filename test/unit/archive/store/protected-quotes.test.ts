import { describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/model/account.ts';
import type { Post, Tombstone } from '../../../../src/model/post.ts';
import { stubAccount, stubPost } from '../../../support/stub-provider.ts';
import { ask, openRig, putAccount, putPost, type Rig, stored } from './archive-rig.ts';

const hidden: Tombstone = {
  type: 'tombstone',
  id: '7',
  url: 'https://x.com/i/status/7',
  text: 'This post is from an account that is not public.',
  reason: 'private',
  author: null,
  context: null,
  platform: 'x',
};

function by(handle: string, more: Partial<Account> = {}) {
  return { author: { ...stubAccount(handle), ...more }, text: 'Secret' };
}

/** Reads posts 1, 2 and so on with all reads that return them, whose results must be equal. */
async function readAll({ archive, store }: Rig): Promise<readonly Post[]> {
  putAccount(store, 'Wren');
  putAccount(store, 'Finch');
  const { search, timeline } = ask(archive);
  store.putRepost({
    platform: 'x',
    handle: 'finch',
    postHandle: 'wren',
    postId: '1',
    created: stored,
    stored,
  });
  const found = await archive.fetch.post?.(
    {
      kind: 'post',
      post: { platform: 'x', handle: 'wren', id: '1' },
      thread: false,
      replies: 'off',
    },
    { signal: AbortSignal.timeout(1000) },
  );
  const lists = [
    (await search('post')).items,
    (await search('post', { feed: 'top' })).items,
    (await timeline('wren')).items,
    (await timeline('finch')).items,
  ];
  for (const [post] of lists) expect(quoteOf(post)).toEqual(quoteOf(found?.post));
  return found === undefined ? [] : [found.post];
}

function quoteOf(post: Post | undefined): Post | null | undefined {
  return post?.type === 'status' ? post.quote : undefined;
}

describe('a quote of a protected account', () => {
  it('is a tombstone if the account is protected now', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { quote: stubPost('7', by('Owl')) });
    putAccount(rig.store, 'OWL', { protected: true });

    expect(await readAll(rig)).toMatchObject([{ type: 'status', text: 'Post 1', quote: hidden }]);
  });

  it('is a tombstone if the account was protected when quoted', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { quote: stubPost('7', by('Owl', { protected: true })) });

    expect(await readAll(rig)).toMatchObject([{ quote: hidden }]);
  });

  it('is a tombstone within another quote', async () => {
    const rig = openRig();
    const inner = stubPost('6', { quote: stubPost('7', by('Owl')) });
    putPost(rig.store, 1, { quote: stubPost('5', { quote: inner }) });
    putAccount(rig.store, 'owl', { protected: true });

    expect(await readAll(rig)).toMatchObject([
      { quote: { id: '5', quote: { id: '6', quote: hidden } } },
    ]);
  });

  it('does not name the author', async () => {
    const rig = openRig();
    const { author } = by('Owl', { protected: true });
    putPost(rig.store, 1, { quote: { ...hidden, reason: 'deleted', author } });

    expect(await readAll(rig)).toMatchObject([{ quote: hidden }]);
  });

  it('has no address that would name the account', async () => {
    const rig = openRig();
    const author = { ...stubAccount('owl@a.social'), platform: 'mastodon' } as const;
    putPost(rig.store, 1, { quote: stubPost('7', { author, platform: 'mastodon' }) });
    putAccount(rig.store, 'owl@a.social', { platform: 'mastodon', protected: true });

    expect(await readAll(rig)).toMatchObject([
      { quote: { ...hidden, platform: 'mastodon', url: null } },
    ]);
  });

  it('is served again when the account is public again', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { quote: stubPost('7', by('Owl')) });
    putAccount(rig.store, 'owl', { protected: true });
    putAccount(rig.store, 'owl');

    expect(await readAll(rig)).toMatchObject([{ quote: { id: '7', text: 'Secret' } }]);
  });

  it('is served for the same handle on another platform', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { quote: stubPost('7', by('Owl')) });
    putAccount(rig.store, 'owl', { platform: 'bluesky', protected: true });

    expect(await readAll(rig)).toMatchObject([{ quote: { type: 'status', id: '7' } }]);
  });
});
