import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import { toActor, toCreate, toExportFiles } from '../../../support/exports/mastodon-export.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { ask, openRig, readPages } from './archive-rig.ts';

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
