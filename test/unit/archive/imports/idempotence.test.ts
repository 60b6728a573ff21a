import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openArchiveStore } from '../../../../src/archive/store/store.ts';
import { runArchive } from '../../../support/exports/archive-command.ts';
import { dids, toPostRecord, toTid } from '../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../support/exports/car-file.ts';
import { dumpArchive } from '../../../support/exports/import-export.ts';
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
import { makeTweet, makeXExport, writeExport } from '../../../support/exports/x-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

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
