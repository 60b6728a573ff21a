import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openBlocks } from '../../../../../src/archive/imports/bluesky/blocks.ts';
import { listBlocks, readCarHeader } from '../../../../../src/archive/imports/bluesky/car.ts';
import { openFileWindow } from '../../../../../src/archive/imports/bluesky/file-window.ts';
import { listLeftOut } from '../../../../../src/archive/imports/bluesky/left-out.ts';
import { readItems } from '../../../../../src/archive/imports/bluesky/read-items.ts';
import { dids, toPostRecord, toTid } from '../../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../../support/exports/car-file.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';

function leftOutOf(records: Readonly<Record<string, unknown>>): readonly string[] {
  const path = join(temporaryFolder(), 'repo.car');
  writeFileSync(path, writeRepository(dids.ada, records));
  const file = openFileWindow(path);
  onTestFinished(() => file.close());
  const blocks = openBlocks(file);
  onTestFinished(blocks.close);
  const header = readCarHeader(file);
  if (header === null) throw new Error('The file is a repository.');
  for (const block of listBlocks(file, header.end)) {
    if (typeof block !== 'string') blocks.add(block);
  }
  const start = { root: header.root, hints: {}, nowMs: Date.now() };
  expect([...readItems(blocks, start)].flat()).not.toEqual([]);
  return listLeftOut(blocks).map(({ name, count, reason }) => `${name} ${count} ${reason}`);
}

const toRecords = (collection: string, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${collection}/${index}`, { $type: collection }]),
  );

it('counts the records of each collection that is not imported', () => {
  const lines = leftOutOf({
    'app.bsky.actor.profile/self': { $type: 'app.bsky.actor.profile' },
    [`app.bsky.feed.post/${toTid(Date.UTC(2024, 0))}`]: toPostRecord('A', '2024-01-01T00:00:00Z'),
    ...toRecords('app.bsky.feed.like', 301),
    ...toRecords('app.bsky.graph.block', 2),
    ...toRecords('example.notes', 1),
  });

  expect(lines).toEqual([
    'app.bsky.feed.like 301 Perch does not import likes',
    'app.bsky.graph.block 2 Perch does not import blocks',
    'example.notes 1 Perch does not import this collection',
  ]);
});

it('lists nothing for a repository that is imported whole, and at most 100 collections', () => {
  const many = Array.from({ length: 150 }, (_, index) => toRecords(`example.${index}`, 1));

  expect(leftOutOf({ 'app.bsky.actor.profile/self': {} })).toEqual([]);
  expect(leftOutOf(Object.assign({}, ...many))).toHaveLength(100);
});
