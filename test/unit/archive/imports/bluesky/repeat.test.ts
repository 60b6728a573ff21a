import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dids, toPostRecord, toTid } from '../../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../../support/exports/car-file.ts';
import { dumpArchive, importExport } from '../../../../support/exports/import-export.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';
import { openRig } from '../../store/archive-rig.ts';

const [first, second, third] = [2, 3, 4].map(
  (day) => `app.bsky.feed.post/${toTid(Date.UTC(2024, 0, day))}`,
) as [string, string, string]; // one for each day

const quoting = (path: string) => ({
  embed: { $type: 'app.bsky.embed.record', record: { uri: `at://${dids.ada}/${path}`, cid: 'x' } },
});
const profile = (displayName: string) => ({
  'app.bsky.actor.profile/self': { $type: 'app.bsky.actor.profile', displayName },
});
const repost = {
  'app.bsky.feed.repost/3kbbbbbbbbb22': {
    $type: 'app.bsky.feed.repost',
    subject: { uri: `at://${dids.ada}/${second}`, cid: 'x' },
    createdAt: '2024-02-01T00:00:00.000Z',
  },
};
const follow = (subject: string) => ({
  [`app.bsky.graph.follow/${subject.slice(-13)}`]: { $type: 'app.bsky.graph.follow', subject },
});

const unfollowed = `did:plc:${'c'.repeat(24)}`;

const older = {
  ...profile('Ada'),
  ...repost,
  ...follow(dids.ben),
  ...follow(unfollowed),
  [first]: toPostRecord('Deleted later', '2024-01-02T00:00:00Z'),
  [second]: toPostRecord('First wording', '2024-01-03T00:00:00Z'),
};
const newer = {
  ...profile('Ada Fenwick'),
  ...repost,
  ...follow(dids.ben),
  [second]: toPostRecord('Second wording', '2024-01-03T00:00:00Z', { tags: ['sea'] }),
  [third]: toPostRecord('Later', '2024-01-04T00:00:00Z', quoting(second)),
};

function writeCar(day: number, records: Readonly<Record<string, unknown>>): string {
  const path = join(temporaryFolder(), `repo-${day}.car`);
  const seconds = Date.UTC(2026, 0, day) / 1000;
  writeFileSync(path, writeRepository(dids.ada, records));
  utimesSync(path, seconds, seconds);
  return path;
}

async function importInto(...files: readonly string[]): Promise<readonly string[]> {
  const { store } = openRig();
  for (const file of files) await importExport(store, file);
  return dumpArchive(store);
}

describe('a repository', () => {
  it('is in the archive once if it is imported twice', async () => {
    const file = writeCar(2, newer);

    const once = await importInto(file);

    expect(once).toHaveLength(5);
    expect(await importInto(file, file, writeCar(2, newer))).toEqual(once);
  });

  it('replaces what an older one contains, and keeps what was deleted since', async () => {
    const files = [writeCar(1, older), writeCar(2, newer)] as const;

    const both = await importInto(...files);

    const isDeleted = (line: string) => line.includes('Deleted later') || line.includes(unfollowed);
    expect(both.filter(isDeleted)).toHaveLength(2);
    expect(both.filter((line) => !isDeleted(line))).toEqual(await importInto(files[1]));
    expect(await importInto(files[1], files[0])).toEqual(both);
  });
});
