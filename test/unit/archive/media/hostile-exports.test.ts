import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openMediaFolder } from '../../../../src/archive/media/media-folder.ts';
import { runArchive } from '../../../support/exports/archive-command.ts';
import { toActor, toCreate, toExportFiles } from '../../../support/exports/mastodon-export.ts';
import {
  hashOf,
  listStored,
  toPictureTweet,
  toPng,
  toXFiles,
  writeFiles,
} from '../../../support/exports/media-export.ts';
import { writeTar } from '../../../support/exports/tar-file.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const picture = toPng('heron', 3000);

/** Returns the path of a zip file whose only media file is `tweets_media/20-a.jpg`. */
const writePicture = (content: Buffer): Promise<string> =>
  writeZip(
    `${temporaryFolder()}/x.zip`,
    toXFiles([toPictureTweet(20, 'a')], { 'tweets_media/20-a.jpg': content }),
  );

/** Replaces all occurrences of some bytes in a file. */
function patch(path: string, from: Buffer, to: Buffer): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at);
  writeFileSync(path, bytes);
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

it.each([
  ['smaller', 40],
  ['larger', 100_000],
])('leaves out a file that claims to be %s than it is', async (_, claimed) => {
  const data = temporaryFolder();
  const path = await writePicture(picture);
  patch(path, uint32(picture.length), uint32(claimed));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 post');
  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('leaves out a file that expands to far more than its compressed size', async () => {
  const data = temporaryFolder();
  const path = await writePicture(toPng('bomb', 80 * 2 ** 20));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('never uses a name in an export as a path', async () => {
  const data = `${temporaryFolder()}/data`;
  const url = 'media_attachments/files/../../../../evil.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: `/${url}` }];
  const path = `${temporaryFolder()}/archive.tar`;
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  writeFileSync(path, writeTar([...members, { name: url, content: picture }]));

  await runArchive(data, 'import', path);

  expect(listStored(data)).toEqual([hashOf(picture)]);
});

it('stores one of several files with the same name', async () => {
  const data = temporaryFolder();
  const name = 'media_attachments/files/1/original/a.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: name }];
  const path = `${temporaryFolder()}/archive.tar`;
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  const twice = [picture, toPng('other')].map((content) => ({ name, content }));
  writeFileSync(path, writeTar([...members, ...twice]));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file stored');
  expect(listStored(data)).toEqual([hashOf(picture)]);
});

it('leaves out the end of a truncated tar file', async () => {
  const data = temporaryFolder();
  const name = 'media_attachments/files/1/original/a.png';
  const attachment = [{ type: 'Document', mediaType: 'image/png', url: name }];
  const members = toExportFiles([toCreate(1, 'One', { attachment })], toActor());
  const whole = writeTar([...members, { name, content: picture }]);
  const path = `${temporaryFolder()}/archive.tar.gz`;
  writeFileSync(path, gzipSync(whole.subarray(0, whole.length - 1024 - 2000)));

  const { stdout } = await runArchive(data, 'import', path);

  expect(stdout).toContain('1 media file left out, because they are damaged.');
  expect(listStored(data)).toEqual([]);
});

it('stores no files while another process stores files, and reports this', async () => {
  const data = temporaryFolder();
  const path = await writePicture(picture);
  mkdirSync(data, { recursive: true });
  const lock = openMediaFolder(data).lock();

  const locked = await runArchive(data, 'import', path);
  lock?.release();
  const later = await runArchive(data, 'import', path);

  expect([locked.code, locked.stdout]).toEqual([
    3,
    expect.stringContaining('Another import is storing media files.'),
  ]);
  expect([later.code, listStored(data)]).toEqual([0, [hashOf(picture)]]);
});

it('reads many files that no post contains', async () => {
  const data = temporaryFolder();
  const others = Array.from({ length: 3000 }, (_, index) => [
    `tweets_media/9-${index}.jpg`,
    picture,
  ]);
  const media = { ...Object.fromEntries(others), 'tweets_media/20-a.jpg': picture };
  const folder = writeFiles(temporaryFolder(), toXFiles([toPictureTweet(20, 'a')], media));

  const { stdout } = await runArchive(data, 'import', folder);

  expect(stdout).toContain('1 media file stored');
  expect(stdout).toContain('3,000 media files left out, because no imported post contains them.');
});
