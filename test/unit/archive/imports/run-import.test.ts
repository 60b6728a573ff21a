import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openArchiveStore } from '../../../../src/archive/store/store.ts';
import { dids, toPostRecord, toTid } from '../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../support/exports/car-file.ts';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import {
  toActor,
  toAnnounce,
  toCreate,
  toExportFiles,
} from '../../../support/exports/mastodon-export.ts';
import {
  makeCsv,
  makeMonthlyExport,
  makeMonthlyPost,
} from '../../../support/exports/monthly-export.ts';
import { writeXExport } from '../../../support/exports/read-x.ts';
import { writeTarGz } from '../../../support/exports/tar-file.ts';
import {
  makeTweet,
  makeXExport,
  toScript,
  writeExport,
} from '../../../support/exports/x-export.ts';
import { runArchive } from '../../../support/run-here.ts';
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

/** Export of one kind, as it is with fewer and with all of its posts. */
interface Kind {
  readonly name: string;
  write(posts: number): string | Promise<string>;
  readonly options?: readonly string[];
}

function writeFileIn(name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

const indices = (posts: number) => Array.from({ length: posts }, (_, index) => index + 1);

const kinds: readonly Kind[] = [
  {
    name: 'X export',
    write: (posts) =>
      writeExport(
        temporaryFolder(),
        makeXExport({ posts, followers: 3, following: 2, repostEvery: 4, replyEvery: 3, parts: 2 }),
      ),
  },
  {
    name: 'X export with edited and community posts',
    write: (posts) => {
      const ids = indices(posts).map(String);
      const edit_info = { initial: { editTweetIds: ids } };
      return writeXExport({
        tweets: ids.map((id) => makeTweet(id, { edit_info, full_text: `Version ${id}` })),
        'community-tweet': [makeTweet(900, { community_id: '77' })],
      });
    },
  },
  {
    name: 'X export of 2012 to 2018',
    write: (posts) => {
      const rows = indices(posts).map((id) => makeMonthlyPost(id, `Post ${id}`));
      return writeExport(temporaryFolder(), makeMonthlyExport({ '2015_01': rows }));
    },
  },
  {
    name: 'tweets.csv',
    write: (posts) => {
      const at = '2015-01-24 02:02:37 +0000';
      const rows = indices(posts).map((id) => [String(id), '', '', at, 'web', `Post ${id}`]);
      return writeFileIn('tweets.csv', makeCsv(rows));
    },
    options: ['--handle', 'wren_example'],
  },
  {
    name: 'Mastodon export',
    write: (posts) => {
      const activities = [
        ...indices(posts).map((id) => toCreate(id, `<p>Post ${id}</p>`)),
        toAnnounce('https://other.example.org/users/ben/statuses/5'),
      ];
      const actor = toActor({ manuallyApprovesFollowers: false });
      return writeFileIn('archive.tar.gz', writeTarGz(toExportFiles(activities, actor)));
    },
  },
  {
    name: 'Bluesky repository',
    write: (posts) => {
      const records = indices(posts).map((day): [string, object] => {
        const at = Date.UTC(2024, 0, day);
        const record = toPostRecord(`Post ${day}`, new Date(at).toISOString());
        return [`app.bsky.feed.post/${toTid(at)}`, record];
      });
      const profile = { $type: 'app.bsky.actor.profile', displayName: 'Ada Fenwick' };
      const all = { 'app.bsky.actor.profile/self': profile, ...Object.fromEntries(records) };
      return writeFileIn('repo.car', writeRepository(dids.ada, all));
    },
    options: ['--handle', 'ada.example.org'],
  },
  {
    name: 'Perch export',
    write: async (posts) => {
      const data = temporaryFolder();
      const path = join(data, 'archive.ndjson');
      const folder = writeExport(temporaryFolder(), makeXExport({ posts, repostEvery: 4 }));
      await runArchive(data, 'import', folder);
      await runArchive(data, 'export', '--output', path);
      return path;
    },
  },
];

async function dumpAfter(paths: readonly string[], options: readonly string[] = []) {
  const data = temporaryFolder();
  for (const path of paths) {
    const { code, stderr } = await runArchive(data, 'import', path, ...options);
    expect({ code, stderr }).toMatchObject({ code: 0 });
  }
  const store = openArchiveStore(join(data, 'archive.db'), 'http://localhost:8080');
  try {
    return dumpArchive(store);
  } finally {
    store.close();
  }
}

describe.each(kinds)('an import of a $name', ({ write, options }) => {
  it('changes nothing the second time', async () => {
    const path = await write(12);

    const once = await dumpAfter([path], options);

    expect(once.length).toBeGreaterThan(2);
    expect(await dumpAfter([path, path], options)).toEqual(once);
  });

  it('gives the same archive over an older export', async () => {
    const older = await write(7);
    const newer = await write(12);

    expect(await dumpAfter([older, newer], options)).toEqual(await dumpAfter([newer], options));
  });
});
