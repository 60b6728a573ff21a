import { describe, expect, it } from 'vitest';
import type { ArchiveStore } from '../../../../src/archive/store/store.ts';
import type { Account } from '../../../../src/model/account.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import { ask, openRig, putPost, stored } from './archive-rig.ts';

const dids = {
  ada: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa',
  ben: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb',
} as const;

function accountOf(name: keyof typeof dids, more: Partial<Account> = {}): Account {
  return { ...stubAccount(`${name}.test`), platform: 'bluesky', id: dids[name], ...more };
}

const on = (handle: string) => ({ platform: 'bluesky', handle }) as const;

/** Stores Ada, who reposted a post of Ben and follows him. Her repository names him by DID. */
function putAda(store: ArchiveStore): void {
  store.putAccount({ account: accountOf('ada'), stored });
  const names = { platform: 'bluesky', stored } as const;
  const repost = { handle: 'ada.test', postHandle: dids.ben, postId: 'kept' };
  store.putRepost({ ...names, ...repost, created: 1_767_225_700 });
  store.putFollow({ ...names, follower: 'ada.test', followed: dids.ben });
}

function putBen(store: ArchiveStore, more: Partial<Account> = {}): void {
  const author = accountOf('ben', more);
  store.putAccount({ account: author, stored });
  const created = { created_timestamp: 1_767_225_601 };
  putPost(store, 'kept', { author, platform: 'bluesky', text: 'A heron', ...created });
}

const orders: readonly (readonly [string, readonly ((store: ArchiveStore) => void)[]])[] = [
  ['before', [putBen, putAda]],
  ['after', [putAda, putBen]],
];

describe.each(orders)('a Bluesky account that is imported %s it is named by DID', (_when, puts) => {
  const openBoth = () => {
    const rig = openRig();
    for (const put of puts) put(rig.store);
    return { ...rig, asks: ask(rig.archive) };
  };

  it('is the author of reposted posts', async () => {
    const { store, asks } = openBoth();

    const { items } = await asks.timeline('', { account: on('ada.test') });

    expect(items).toMatchObject([
      { text: 'A heron', author: { screen_name: 'ben.test' }, reposted_by: { id: dids.ada } },
    ]);
    expect(store.readReposts(on('ada.test'), -1, 10)).toMatchObject([{ post: { id: 'kept' } }]);
  });

  it('is in the lists of follows', async () => {
    const { store, asks } = openBoth();

    const following = await asks.following('', { account: on('ada.test') });
    const followers = await asks.followers('', { account: on('ben.test') });

    expect(following.items).toMatchObject([{ screen_name: 'ben.test', id: dids.ben }]);
    expect(followers.items).toMatchObject([{ screen_name: 'ada.test', id: dids.ada }]);
    expect(store.listAccounts()).toMatchObject([
      { handle: 'ada.test', followers: 0, following: 1 },
      { handle: 'ben.test', followers: 1, following: 0 },
    ]);
  });
});

it('has only the DID of a protected account', async () => {
  const { store, archive } = openRig();
  putBen(store, { protected: true, name: 'Ben Secret' });
  putAda(store);

  const following = await ask(archive).following('', { account: on('ada.test') });

  expect(following.items).toMatchObject([{ screen_name: dids.ben, protected: true }]);
  expect((await ask(archive).timeline('', { account: on('ada.test') })).items).toEqual([]);
});

describe('removing a Bluesky account', () => {
  it('removes all its posts, even if another archived account reposted one', async () => {
    const { store, archive } = openRig();
    putAda(store);
    // Without a handle, the account is stored under its DID.
    putBen(store, { screen_name: dids.ben, protected: true });

    expect(store.removeAccount(on(dids.ben))).toMatchObject({ posts: 1 });

    expect((await ask(archive).timeline('', { account: on('ada.test') })).items).toEqual([]);
    expect((await ask(archive).search('heron')).items).toEqual([]);
  });

  it('keeps follows while one side is archived', () => {
    const { store } = openRig();
    putAda(store);
    putBen(store);

    store.removeAccount(on('ada.test'));
    expect(store.listAccounts()).toMatchObject([{ handle: 'ben.test', followers: 1 }]);
    expect(store.removeAccount(on('ben.test'))).toMatchObject({ follows: 1 });
  });
});

it('removes reposted posts of a protected X account', async () => {
  const { store, archive } = openRig();
  const author = { ...stubAccount('ben'), protected: true };
  store.putAccount({ account: author, stored });
  store.putAccount({ account: stubAccount('ada'), stored });
  putPost(store, 5, { author, text: 'A heron' });
  const repost = { handle: 'ada', postHandle: 'ben', postId: '5', created: stored, stored };
  store.putRepost({ platform: 'x', ...repost });

  store.removeAccount({ platform: 'x', handle: 'ben' });

  expect((await ask(archive).timeline('ada')).items).toEqual([]);
  expect((await ask(archive).search('heron')).items).toEqual([]);
});

it("does not continue from a reply to another account's post with the same id", () => {
  const { store } = openRig();
  const author = accountOf('ada');
  store.putAccount({ account: author, stored });
  const target = { screen_name: dids.ben, status: 'same', url: null };
  const by = { author, platform: 'bluesky' } as const;
  putPost(store, 'same', { ...by, created_timestamp: 1_767_225_601 });
  putPost(store, 'answer', { ...by, created_timestamp: 1_767_225_602, replying_to: target });

  const [first, answer] = store.readHistory(on('ada.test'), -1, 10);

  expect(answer).toMatchObject({ continues: false, post: { id: 'answer' } });
  expect(first && store.readContinuations(on('ada.test'), first)).toEqual([]);
});
