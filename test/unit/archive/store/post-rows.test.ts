import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ArchiveStore } from '../../../../src/archive/store/store.ts';
import type { Account } from '../../../../src/model/account.ts';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import { toActor, toCreate, toExportFiles } from '../../../support/exports/mastodon-export.ts';
import { writeXExport } from '../../../support/exports/read-x.ts';
import { makeTweet } from '../../../support/exports/x-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import { ask, openRig, putPost, readPages, stored } from './archive-rig.ts';

const edited = (id: number, ids: readonly string[], full_text: string) =>
  makeTweet(id, { full_text, edit_info: { initial: { editTweetIds: ids } } });

const reply = makeTweet(70, {
  full_text: 'And more',
  in_reply_to_status_id_str: '51',
  in_reply_to_screen_name: 'Wren_Example',
});

const texts = ['Frist heron', 'Second heron', 'Third heron'];

/** Exports before the post was edited, and after each edit. */
const exports = () =>
  texts.map((_, last) => {
    const versions = texts.slice(0, last + 1);
    const ids = versions.map((_text, index) => String(51 + index));
    const tweets = versions.map((text, index) => edited(51 + index, ids, text));
    return writeXExport({ tweets: [...tweets, reply] });
  });

async function importAll(paths: readonly string[]) {
  const { store, archive } = openRig();
  for (const path of paths) await importExport(store, path);
  return { store, archive };
}

describe('the versions of an edited post', () => {
  it('are one post, whatever the order of the exports', async () => {
    const [first = '', second = '', third = ''] = exports();
    const { store: once } = await importAll([third]);

    for (const order of [
      [first, second, third],
      [third, second, first],
      [second, third, first, third],
    ]) {
      const { store } = await importAll(order);
      expect(dumpArchive(store)).toEqual(dumpArchive(once));
    }
  });

  it('are one post if the first one lists only itself, also over an older export', async () => {
    const first = edited(51, ['51'], 'Frist heron');
    const edit_info = { edit: { initialTweetId: '51' } };
    const later = makeTweet(52, { full_text: 'First heron', edit_info });
    const newer = writeXExport({ tweets: [first, later] });
    const { store: once } = await importAll([newer]);

    const { store } = await importAll([writeXExport({ tweets: [first] }), newer]);

    expect(dumpArchive(store)).toEqual(dumpArchive(once));
    expect(store.readPost('x', '51', 'wren_example')?.post).toMatchObject({ id: '52' });
  });

  it('are found by the last version only', async () => {
    const { archive } = await importAll(exports());

    const { items } = await ask(archive).search('heron');

    expect(items).toMatchObject([{ id: '53', text: 'Third heron' }]);
    expect((await ask(archive).search('frist')).items).toEqual([]);
  });

  it('are read by the id of each version, with the replies to each', async () => {
    const { store } = await importAll(exports());

    for (const id of ['51', '52', '53']) {
      const read = store.readPost('x', id, 'wren_example');
      expect(read?.post).toMatchObject({ id: '53' });
      expect(read && store.readReplies(read.post)).toMatchObject([{ post: { id: '70' } }]);
    }
    const answer = store.readPost('x', '70', 'wren_example');
    expect(answer && store.readParent(answer)?.post).toMatchObject({ id: '53' });
  });

  it('are removed with the account', async () => {
    const paths = exports();
    const { store } = await importAll(paths);
    const account = { platform: 'x', handle: 'wren_example' } as const;

    store.removeAccount(account);
    await importExport(store, paths[0] ?? '');

    expect(store.readPost('x', '51', 'wren_example')?.post).toMatchObject({ text: 'Frist heron' });
  });
});

const writeRows = (likes: number) =>
  writeXExport({
    tweets: [
      makeTweet(70, {
        full_text: 'RT @heron: low tide, again',
        favorite_count: String(likes),
        retweet_count: '0',
      }),
      makeTweet(71, { full_text: 'RT @tern: high tide', favorite_count: '0', retweet_count: '0' }),
    ],
  });

async function dumpAfter(paths: readonly string[]) {
  const { store } = openRig();
  for (const path of paths) await importExport(store, path);
  return dumpArchive(store);
}

it('keeps only the own post if another export has it as a repost, in any order', async () => {
  const [without, liked] = [writeRows(0), writeRows(4)];
  const expected = await dumpAfter([liked]);

  expect(expected.join()).not.toContain('"screen_name":"heron"');
  expect(expected.join()).toContain('"screen_name":"tern"');
  expect(await dumpAfter([without, liked])).toEqual(expected);
  expect(await dumpAfter([liked, without])).toEqual(expected);
});

it('stores, lists and finds posts from before 1970', async () => {
  const folder = temporaryFolder();
  const times = ['1969-07-20T20:17:00Z', '0001-01-01T00:00:00Z', '2023-01-01T00:00:00Z'];
  const activities = times.map((published, index) =>
    toCreate(index + 1, `<p>Landed ${index + 1}</p>`, { published }),
  );
  const actor = toActor({ manuallyApprovesFollowers: false });
  for (const { name, content } of toExportFiles(activities, actor))
    if (!name.includes('/')) writeFileSync(join(folder, name), content);
  const { store, archive } = openRig();

  const { outcome } = await importExport(store, folder);
  const before = dumpArchive(store);
  const account = { platform: 'mastodon', handle: 'ada@social.example.org' } as const;
  const page = (cursor: string | null, count: number) =>
    ask(archive).timeline('', { account, cursor, count });
  const listed = await readPages({ page, sizes: [1] });
  const found = await ask(archive).search('landed');

  expect(outcome.counts).toMatchObject({ posts: 3, faults: 0 });
  expect(before).toHaveLength(4);
  const created = listed.map((post) => post.type === 'status' && post.created_at);
  expect(created[0]).toBe('2023-01-01T00:00:00Z');
  expect(created.toSorted()).toEqual(times.toSorted());
  expect(found.items).toHaveLength(3);
});

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
