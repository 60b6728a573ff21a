import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blueskyFormat } from '../../../../../src/archive/imports/bluesky/bluesky-format.ts';
import { dids, toPostRecord, toTid } from '../../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../../support/exports/car-file.ts';
import { readLeftOutLines } from '../../../../support/exports/read-export.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';

function leftOutOf(records: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const path = join(temporaryFolder(), 'repo.car');
  writeFileSync(path, writeRepository(dids.ada, records));
  return readLeftOutLines(blueskyFormat, path);
}

const toRecords = (collection: string, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${collection}/${index}`, { $type: collection }]),
  );

it('counts the records of each collection that is not imported', async () => {
  const lines = await leftOutOf({
    'app.bsky.actor.profile/self': { $type: 'app.bsky.actor.profile' },
    [`app.bsky.feed.post/${toTid(Date.UTC(2024, 0))}`]: toPostRecord('A', '2024-01-01T00:00:00Z'),
    ...toRecords('app.bsky.feed.like', 301),
    ...toRecords('app.bsky.graph.block', 2),
    ...toRecords('example.notes', 1),
  });

  expect(lines).toEqual([
    'app.bsky.feed.like 301 item Perch does not import likes',
    'app.bsky.graph.block 2 item Perch does not import blocks',
    'example.notes 1 item Perch does not import this collection',
  ]);
});

it('lists nothing for a repository that is imported whole, and at most 100 collections', async () => {
  const many = Array.from({ length: 150 }, (_, index) => toRecords(`example.${index}`, 1));

  expect(await leftOutOf({ 'app.bsky.actor.profile/self': {} })).toEqual([]);
  expect(await leftOutOf(Object.assign({}, ...many))).toHaveLength(100);
});
