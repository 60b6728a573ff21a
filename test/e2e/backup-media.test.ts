import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  hashOf,
  listStored,
  toMp4,
  toPictureTweet,
  toPng,
  toXFiles,
  writeFiles,
} from '../support/exports/media-export.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const pictures = [toPng('heron'), toMp4('clip')];
const hashes = pictures.map(hashOf).sort();
const pathOf = (data: string, hash: string) => `${data}/media/${hash.slice(0, 2)}/${hash}`;

const run = (data: string, ...args: readonly string[]) => runHere(args, { PERCH_DATA_DIR: data });

async function importMedia(): Promise<string> {
  const data = `${temporaryFolder()}/data`;
  const [heron = Buffer.alloc(0), clip = Buffer.alloc(0)] = pictures;
  const media = { 'tweets_media/20-a.jpg': heron, 'tweets_media/20-b.jpg': clip };
  const folder = writeFiles(temporaryFolder(), toXFiles([toPictureTweet(20, 'a', 'b')], media));
  expect((await run(data, 'archive', 'import', folder)).code).toBe(0);
  return data;
}

it('backs up and restores the media files of the archive', async () => {
  const data = await importMedia();
  const other = `${temporaryFolder()}/other`;
  const file = `${temporaryFolder()}/perch.zip`;

  const made = await run(data, 'backup', file);
  const checked = await run(other, 'restore', file, '--check');
  const restored = await run(other, 'restore', file);

  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('2 media files')]);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('2 media files')]);
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  expect(listStored(other)).toEqual(hashes);

  // A backup without media files replaces the folder too.
  const empty = `${temporaryFolder()}/empty`;
  await run(empty, 'keys', 'create', '--label', 'one');
  await run(empty, 'backup', `${file}.empty`);
  await run(other, 'restore', `${file}.empty`);

  expect(existsSync(`${other}/media`)).toBe(false);
  const [earlier] = readdirSync(other).filter((name) => name.startsWith('before-restore-'));
  expect(listStored(`${other}/${earlier}`)).toEqual(hashes);
});

it('leaves out media files that are missing, and refuses changed ones', async () => {
  const data = await importMedia();
  const [first = '', second = ''] = hashes;
  const file = `${temporaryFolder()}/perch.zip`;
  rmSync(pathOf(data, first));
  const size = readFileSync(pathOf(data, second)).length;
  writeFileSync(pathOf(data, second), Buffer.alloc(size, 'changed'));

  const made = await run(data, 'backup', file);
  const checked = await run(data, 'restore', file, '--check');

  expect(made.stdout).toContain('1 media file\n');
  expect(checked.code).toBe(3);
  expect(checked.stderr).toContain('is damaged');
});
