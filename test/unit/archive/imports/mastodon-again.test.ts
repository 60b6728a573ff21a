import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpArchive, importExport } from '../../../support/exports/import-export.ts';
import {
  actorAddress,
  toActor,
  toAnnounce,
  toCreate,
  toExportFiles,
} from '../../../support/exports/mastodon-export.ts';
import { writeTarGz } from '../../../support/exports/tar-file.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { openRig } from '../store/archive-rig.ts';

const quote = `${actorAddress}/statuses/1`;
const many = Array.from({ length: 900 }, (_, at) => toCreate(100 + at, `Post ${at}`));

function writeExportOf(day: number, activities: readonly unknown[], actor = toActor()): string {
  const path = join(temporaryFolder(), 'archive.tar.gz');
  writeFileSync(path, writeTarGz(toExportFiles(activities, actor)));
  const made = new Date(Date.UTC(2026, 0, day));
  utimesSync(path, made, made);
  return path;
}

const older = () =>
  writeExportOf(
    1,
    [toCreate(1, 'A herron'), toCreate(2, 'As I said', { quote }), ...many],
    toActor({ name: 'Ada F.' }),
  );

const newer = () =>
  writeExportOf(2, [
    toCreate(1, 'A heron', { updated: '2026-01-01T12:00:00Z' }),
    toCreate(2, 'As I said', { quote }),
    toAnnounce('https://other.example.org/users/ben/statuses/77'),
    ...many,
  ]);

async function archiveOf(...paths: readonly string[]) {
  const { store } = openRig();
  for (const path of paths) await importExport(store, path);
  return dumpArchive(store);
}

describe('the newest export of an account', () => {
  it('gives the same archive once, twice, and over or under an older one', async () => {
    const once = await archiveOf(newer());

    expect(once.join('\n')).toContain('A heron');
    expect(await archiveOf(newer(), newer())).toEqual(once);
    expect(await archiveOf(older(), newer())).toEqual(once);
    expect(await archiveOf(newer(), older())).toEqual(once);
  });

  it('gives the same archive if its import was stopped', async () => {
    const { store } = openRig();
    const path = newer();

    const stopped = await importExport(store, path, { stopAfter: 1 });
    const resumed = await importExport(store, path);

    expect([stopped.outcome.ended, resumed.outcome.ended]).toEqual(['stopped', 'done']);
    expect(dumpArchive(store)).toEqual(await archiveOf(newer()));
  });
});
