import { describe, expect, it } from 'vitest';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import {
  makeTweet,
  makeXExport,
  toScript,
  writeExport,
} from '../../../support/exports/x-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { ask, openRig } from '../store/archive-rig.ts';

const options = { posts: 1300, followers: 30, following: 20, repostEvery: 9, replyEvery: 7 };

function writeX(changes: Readonly<Record<string, string>> = {}, more = {}): string {
  const files = new Map(makeXExport({ ...options, ...more }));
  for (const [name, text] of Object.entries(changes)) files.set(`data/${name}`, text);
  return writeExport(temporaryFolder(), files);
}

/** Export of one post, from a day of 2026. */
function writeOne(day: string, text: string): string {
  const manifest = { archiveInfo: { generationDate: `2026-${day}T00:00:00.000Z` } };
  return writeX(
    {
      'manifest.js': `window.__THAR_CONFIG = ${JSON.stringify(manifest)}`,
      'tweets.js': toScript('tweets', [JSON.stringify(makeTweet(20, { full_text: text }))]),
    },
    { posts: 0, followers: 0, following: 0 },
  );
}

describe('an import', () => {
  it('stores everything in the export', async () => {
    const { store } = openRig();

    const { outcome } = await importExport(store, writeX());

    expect(outcome).toMatchObject({
      ended: 'done',
      isCutOff: false,
      resumedAfter: 0,
      counts: { accounts: 1, posts: 1300, reposts: 144, follows: 50, faults: 0, hidden: 0 },
    });
    expect(store.listAccounts()).toMatchObject([
      { platform: 'x', handle: 'wren_example', posts: 1156, reposts: 144, followers: 30 },
    ]);
  });

  it('changes nothing when repeated, from the same or other files', async () => {
    const { store } = openRig();
    const path = writeX();
    await importExport(store, path);
    const before = dumpArchive(store);

    const again = await importExport(store, path);
    const copied = await importExport(store, writeX());

    expect(again.outcome.ended).toBe('known');
    expect(copied.outcome.ended).toBe('done');
    expect(dumpArchive(store)).toEqual(before);
  });

  it.each([1, 2])('resumes after a stop at batch %i', async (stopAfter) => {
    const [whole, stopped] = [openRig().store, openRig().store];
    const path = writeX();
    await importExport(whole, path);

    const first = await importExport(stopped, path, { stopAfter });
    const second = await importExport(stopped, path);

    expect(first.outcome.ended).toBe('stopped');
    expect(second.outcome).toMatchObject({ ended: 'done', resumedAfter: first.outcome.items });
    expect(second.outcome.counts.posts).toBe(1300);
    expect(dumpArchive(stopped)).toEqual(dumpArchive(whole));
  });

  it('replaces data of older exports only', async () => {
    const { store, archive } = openRig();
    const found = async (text: string) => (await ask(archive).search(text)).items.length;
    const textOf = () => store.readPost('x', '20', null)?.post;

    await importExport(store, writeOne('02-01', 'second'));
    await importExport(store, writeOne('01-01', 'first'));
    expect(textOf()).toMatchObject({ text: 'second' });

    await importExport(store, writeOne('03-01', 'third'));
    expect(textOf()).toMatchObject({ text: 'third' });
    expect([await found('second'), await found('third')]).toEqual([0, 1]);
  });

  it('reports and counts skipped records', async () => {
    const { store } = openRig();

    const { outcome, skipped } = await importExport(store, writeX({}, { brokenEvery: 100 }));

    expect(outcome.counts).toMatchObject({ faults: 13 });
    expect(skipped).toHaveLength(13);
    expect(skipped[0]?.location).toBe('data/tweets.js, record 100');
  });

  it('can be stopped while it skips items of an earlier run', async () => {
    const { store } = openRig();
    const path = writeX();
    const first = await importExport(store, path, { stopAfter: 2 });

    const second = await importExport(store, path, { stopAfter: 0 });

    expect(second.outcome).toMatchObject({ ended: 'stopped', items: first.outcome.items });
  });

  it('does not depend on byte order marks and line endings', async () => {
    const [one, other] = [openRig().store, openRig().store];

    await importExport(one, writeX());
    await importExport(other, writeX({}, { isWindows: true, parts: 3 }));

    expect(dumpArchive(other)).toEqual(dumpArchive(one));
  });

  it('hides protected accounts', async () => {
    const { store, archive } = openRig();
    const change = { protectedAt: '2026-01-01T00:00:00.000Z', action: 'Protect' };
    const history = toScript('protected_history', [JSON.stringify({ protectedHistory: change })]);

    await importExport(store, writeX({ 'protected-history.js': history }));

    await expect(ask(archive).timeline('wren_example')).rejects.toThrow(
      'The account is protected.',
    );
    expect(store.hasPost('x', '880000000000000000')).toBe(false);
  });
});

describe('removing an account', () => {
  it('leaves the archive as before the import', async () => {
    const { store: both, archive } = openRig();
    const without = openRig().store;
    const other = writeX({}, { handle: 'Heron_Example', seed: 2 });
    await importExport(without, other);
    await importExport(both, writeX());
    await importExport(both, other);

    expect(both.removeAccount({ platform: 'x', handle: 'wren_example' })).toMatchObject({
      posts: 1156,
      reposts: 144,
      follows: 50,
    });

    expect(dumpArchive(both)).toEqual(dumpArchive(without));
    expect((await ask(archive).search('from:wren_example')).items).toEqual([]);
  });

  it('allows importing it again', async () => {
    const { store } = openRig();
    const path = writeX();
    await importExport(store, path);
    const before = dumpArchive(store);

    store.removeAccount({ platform: 'x', handle: 'wren_example' });
    expect(dumpArchive(store)).toEqual([]);
    expect((await importExport(store, path)).outcome.ended).toBe('done');

    expect(dumpArchive(store)).toEqual(before);
  });

  it('returns undefined for an account that is not archived', () => {
    expect(openRig().store.removeAccount({ platform: 'x', handle: 'nobody' })).toBeUndefined();
  });
});
