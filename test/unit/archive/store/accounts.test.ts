import { describe, expect, it } from 'vitest';
import { migrations } from '../../../../src/archive/store/schema.ts';
import { openSqlite } from '../../../../src/lib/files/sqlite.ts';
import type { Account } from '../../../../src/model/account.ts';
import { toAccount } from '../../../../src/model/account.ts';
import { failureOf } from '../../../suites/provider-suite.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import {
  ask,
  openRig,
  playBack,
  putAccount,
  putPost,
  type Rig,
  readPages,
  stored,
} from './archive-rig.ts';

const handles = (accounts: readonly Account[]) => accounts.map((one) => one.screen_name);
const follow = ({ store }: Rig, follower: string, followed = 'wren', at = stored) =>
  store.putFollow({ platform: 'x', follower, followed, stored: at });

describe('a profile', () => {
  it('is the stored account with its time', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Wren', { description: 'Small. Loud.' });

    expect(await ask(rig.archive).profile('wren')).toEqual({
      account: { ...stubAccount('Wren'), description: 'Small. Loud.' },
      warnings: [],
      asOfMs: stored * 1000,
    });
  });

  it('is the latest version', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Wren', { name: 'Old' });
    putAccount(rig.store, 'wren', { name: 'New' });

    expect((await ask(rig.archive).profile('wren')).account.name).toBe('New');
    expect(handles((await ask(rig.archive).users('old')).items)).toEqual([]);
  });

  it('is found by DID on Bluesky', async () => {
    const { archive, store } = openRig();
    const id = 'did:plc:abcdefghijklmnopqrstuvwx';
    putAccount(store, 'wren.test', { platform: 'bluesky', id });
    const account = { platform: 'bluesky', handle: id } as const;

    const found = await archive.fetch.profile?.(
      { kind: 'profile', account },
      { signal: AbortSignal.timeout(1000) },
    );

    expect(found?.account.screen_name).toBe('wren.test');
    expect(archive.covers({ kind: 'profile', account })).toBe(true);
  });

  it('is missing for a protected account, like its timeline and lists', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Owl', { protected: true });
    const { profile, timeline, followers, following } = ask(rig.archive);

    for (const read of [profile, timeline, followers, following]) {
      const failure = await failureOf(read('owl'));
      expect(failure).toMatchObject({ kind: 'missing', message: 'The account is protected.' });
    }
  });

  it('is missing for a protected account whose reposted posts can be read', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Owl', { protected: true });
    const { id } = putPost(rig.store, 1);
    rig.store.putRepost({
      platform: 'x',
      handle: 'owl',
      postHandle: 'wren',
      postId: id,
      created: stored,
      stored,
    });
    const { search, timeline } = ask(rig.archive);

    expect((await failureOf(timeline('owl'))).kind).toBe('missing');
    expect((await search('post')).items).toMatchObject([{ id, reposted_by: null }]);
  });

  it('is ambiguous for an account that is not archived, like its timeline and lists', async () => {
    const { profile, timeline, followers, following } = ask(openRig().archive);

    for (const read of [profile, timeline, followers, following]) {
      expect((await failureOf(read('owl'))).kind).toBe('ambiguous');
    }
  });
});

describe('followers and following', () => {
  it('are ordered by handle, with a stub if only the handle is known', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Wren');
    putAccount(rig.store, 'Finch', { description: 'Seeds.' });
    putAccount(rig.store, 'Owl', { protected: true, description: 'Secret.' });
    follow(rig, 'owl');
    follow(rig, 'finch');
    follow(rig, 'auk', 'wren', stored - 50);
    follow(rig, 'wren', 'finch');
    const stub = (handle: string) =>
      toAccount({
        id: handle,
        screen_name: handle,
        name: handle,
        url: `https://x.com/${handle}`,
        platform: 'x',
      });

    const { followers, following } = ask(rig.archive);

    expect(await followers('wren')).toEqual({
      items: [
        stub('auk'),
        { ...stubAccount('Finch'), description: 'Seeds.' },
        { ...stub('owl'), protected: true },
      ],
      cursor: null,
      warnings: [],
      isExact: true,
      asOfMs: (stored - 50) * 1000,
    });
    expect(handles((await following('wren')).items)).toEqual(['Finch']);
  });

  it('contain every account once, whatever changes between pages', async () => {
    const name = fc.stringMatching(/^[a-z0-9_]{1,5}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { minLength: 1, maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.boolean(), name), { maxLength: 12 }),
        async (names, sizes, changes) => {
          const rig = openRig();
          putAccount(rig.store, 'Wren');
          for (const one of names) follow(rig, one);
          const database = openSqlite({ path: rig.path, migrations });
          const removal = database.prepare('DELETE FROM follows WHERE follower = ?');
          const { removed, between } = playBack(
            changes.map((change) => [change]),
            { put: (one) => follow(rig, one), remove: (one) => void removal.run(one) },
          );

          const page = (cursor: string | null, count: number) =>
            ask(rig.archive).followers('wren', { cursor, count });
          const items = handles(await readPages({ sizes, page, between }));
          database.close();

          const stayed = names.filter((one) => !removed.has(one)).sort();
          expect(items).toEqual([...new Set(items)].sort());
          expect(items.filter((one) => stayed.includes(one))).toEqual(stayed);
        },
      ),
      { numRuns: runs(25) },
    );
  });

  it('reject a foreign cursor', async () => {
    const rig = openRig();
    putAccount(rig.store, 'Wren');

    for (const cursor of ['', 'a b', 'É', '\0']) {
      const failure = await failureOf(ask(rig.archive).followers('wren', { cursor }));
      expect(failure.kind).toBe('malformed');
    }
  });
});

describe('the search of accounts', () => {
  function openCast(): Rig {
    const rig = openRig();
    putAccount(rig.store, 'wren', { name: 'Ada Fenwick', followers: 10 });
    putAccount(rig.store, 'finch', { name: 'Zoë', description: 'Wrens and ada', followers: 500 });
    putAccount(rig.store, 'auk', { name: '東京の鳥', followers: 10 });
    putAccount(rig.store, 'kea', { name: 'Bo', description: 'ada', followers: null });
    putAccount(rig.store, 'owl', { name: 'Ada Owl', protected: true });
    return rig;
  }

  it.each([
    ['ada', ['finch', 'wren', 'kea']],
    ['@wren', ['finch', 'wren']],
    ['fenw', ['wren']],
    ['fenw ada', []],
    ['ada fenwick', ['wren']],
    ['zoe', ['finch']],
    ['京の', ['auk']],
    ['owl', []],
    ['nobody', []],
    ['ada -zoe', ['wren', 'kea']],
    ['ada -"ada fenwick"', ['finch', 'kea']],
    ['-ada', ['auk']],
    ['-ada -wren -東京', []],
    ['"ada fenwick"', ['wren']],
    ['“ada fenwick”', ['wren']],
    ['"ada fenw"', []],
    ['"fenwick ada"', []],
    ['fenw "wren ada"', ['wren']],
    ['fenw -zoe', ['wren']],
    ['ada -fen', ['finch', 'wren', 'kea']],
    ['ada AND fenw', ['wren']],
  ])('searches handle, name and description: %s', async (text, expected) => {
    const rig = openCast();

    const found = await ask(rig.archive).users(text);

    expect(handles(found.items)).toEqual(expected);
    expect(found.warnings).toEqual([]);
  });

  it.each([
    'from:wren',
    '-from:wren',
    'since:2026-01-01',
    'until:yesterday',
    'filter:media',
    'filter:',
    '#tag',
    '-#tag',
    'lang:de',
    'OR',
  ])('warns about %s and searches for the rest', async (operator) => {
    const found = await ask(openCast().archive).users(`${operator} fenw`);

    expect(handles(found.items)).toEqual(['wren']);
    expect(found.warnings).toEqual([
      `The archive does not support the operator \`${operator}\` in account searches, so it was ignored.`,
    ]);
  });

  it('finds accounts of one platform, also with exclusions only', async () => {
    const { archive, store } = openCast();
    putAccount(store, 'wren@a.social', { name: 'Ada', platform: 'mastodon' });
    const { users } = ask(archive);

    expect(handles((await users('-zoe', { platform: 'mastodon' })).items)).toEqual([
      'wren@a.social',
    ]);
    expect(handles((await users('wren -zoe', { platform: 'x' })).items)).toEqual(['wren']);
    expect(handles((await users('wren -zoe')).items).toSorted()).toEqual(['wren', 'wren@a.social']);
  });

  it.each([
    [' -- "" ', 1],
    ['from:wren #tag', 3],
  ])('warns if there is nothing to search for: %j', async (text, warnings) => {
    const found = await ask(openCast().archive).users(text);

    expect(found).toMatchObject({ items: [], cursor: null });
    expect(found.warnings).toHaveLength(warnings);
    expect(found.warnings.at(-1)).toMatch(/has no words/);
  });

  it('limits the search text and warns', async () => {
    const text = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

    const found = await ask(openCast().archive).users(text);

    expect(found.warnings).toEqual([expect.stringMatching(/^The search is too long/)]);
  });

  it('returns every match once over its pages', async () => {
    const rig = openRig();
    for (let index = 0; index < 60; index++) {
      const followers = index % 7 === 0 ? null : index % 5;
      putAccount(rig.store, `bird${index}`, { followers });
    }
    const { users } = ask(rig.archive);
    const all = handles((await users('bird')).items);

    const items = await readPages({
      sizes: [1, 7, 3],
      page: (cursor, count) => users('bird', { cursor, count }),
    });

    expect(all).toHaveLength(60);
    expect(handles(items)).toEqual(all);
  });

  it('rejects a foreign cursor', async () => {
    for (const cursor of ['', '1', '1.x', 'a.x.wren', '1.x.a b']) {
      const failure = await failureOf(ask(openCast().archive).users('ada', { cursor }));
      expect(failure.kind).toBe('malformed');
    }
  });
});
