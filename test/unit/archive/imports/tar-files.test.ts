import { readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ExportFiles, readWhole } from '../../../../src/archive/imports/files/export-files.ts';
import {
  openExportFiles,
  readMediaFiles,
} from '../../../../src/archive/imports/files/open-files.ts';
import { writeTar, writeTarGz } from '../../../support/exports/tar-file.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const mib = 2 ** 20;

async function open(bytes: Buffer): Promise<ExportFiles | null> {
  const path = `${temporaryFolder()}/export.tar.gz`;
  writeFileSync(path, bytes);
  const files = await openExportFiles(path);
  if (files !== null) onTestFinished(files.close);
  return files;
}

async function countBytes(files: ExportFiles | null): Promise<number> {
  let count = 0;
  for (const file of files?.files ?? []) {
    for await (const chunk of files?.read(file) ?? []) count += chunk.length;
  }
  return count;
}

describe('the files of a tar file', () => {
  it('are listed without media', async () => {
    const members = ['outbox.json', 'media/1.jpg', 'actor.json', 'likes.txt'];

    const files = await open(writeTarGz(members.map((name) => ({ name, content: 'a' }))));

    expect(files?.files.map(({ name }) => name)).toEqual(['outbox.json', 'actor.json']);
  });

  it('are limited to ten thousand', async () => {
    const members = Array.from({ length: 10_010 }, (_, n) => ({ name: `${n}.json`, content: '' }));

    expect((await open(writeTarGz(members)))?.files).toHaveLength(10_000);
  });

  it('are rejected if they expand too much', async () => {
    const bomb = gzipSync(writeTar([{ name: 'outbox.json', content: Buffer.alloc(80 * mib) }]));

    await expect(open(bomb)).rejects.toThrow('The tar file is too large. It expands to over');
  });

  it('are rejected if earlier entries expand too much', async () => {
    const bomb = writeTarGz([
      { name: 'padding.bin', content: Buffer.alloc(80 * mib) },
      { name: 'outbox.json', content: '{}' },
    ]);

    await expect(open(bomb)).rejects.toThrow('The tar file is too large. It expands to over');
  });

  it('have the size in their pax header, which does not apply to headers', async () => {
    const size = { name: 'pax', type: 'x', content: '14 size=10000\n' };
    const path = { name: 'pax', type: 'x', content: '15 path=a.json\n' };

    const files = await open(writeTar([size, path, { name: 'b.json', content: '{}' }]));

    expect(files?.files).toMatchObject([{ name: 'a.json', bytes: 2 }]);
  });

  it('can be large if uncompressed, and expand if small', async () => {
    const text = Buffer.alloc(80 * mib);
    const plain = await open(writeTar([{ name: 'outbox.json', content: text }]));
    const short = await open(writeTarGz([{ name: 'outbox.json', content: Buffer.alloc(mib) }]));

    expect([await countBytes(plain), await countBytes(short)]).toEqual([80 * mib, mib]);
  });

  it.each([
    ['the content', 512 + 2900, { 'a.json': 2900 }],
    ['the padding', 512 + 3020, { 'a.json': 3000 }],
    ['a header', 512 + 3072 + 100, { 'a.json': 3000 }],
    ['the content of the next file', 512 + 3072 + 512 + 40, { 'a.json': 3000, 'b.json': 40 }],
  ])('are read up to the cut within %s', async (_name, length, expected) => {
    const members = ['a.json', 'b.json'].map((name) => ({ name, content: 'x'.repeat(3000) }));

    const files = await open(writeTar(members).subarray(0, length));

    const sizes: Record<string, number> = {};
    for (const file of files?.files ?? [])
      sizes[file.name] = await countBytes(files && { ...files, files: [file] });
    expect(sizes).toEqual(expected);
  });

  it('are all read if a caller stops within one', async () => {
    const path = `${temporaryFolder()}/export.tar`;
    const members = ['a.json', 'b.json', 'c.json'];
    writeFileSync(path, writeTar(members.map((name) => ({ name, content: Buffer.alloc(mib) }))));

    const names: string[] = [];
    for await (const file of readMediaFiles(path)) {
      names.push(file.path);
      for await (const _chunk of file.read()) break;
    }

    expect(names).toEqual(members);
  });

  it('are listed up to a damaged header', async () => {
    const bytes = writeTar(['a.json', 'b.json'].map((name) => ({ name, content: '{}' })));
    bytes.fill(0xff, 1024, 1040);

    expect((await open(bytes))?.files).toEqual([{ name: 'a.json', bytes: 2 }]);
  });

  it('are read from the tar file once, and leave no temporary file', async () => {
    const [path, temporary] = [`${temporaryFolder()}/export.tar.gz`, temporaryFolder()];
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const texts = ['first', '', 'x'.repeat(300_000)];
    const members = texts.map((content, n) => ({ name: `${n}.json`, content }));
    writeFileSync(path, writeTarGz([...members, { name: '0.json', content: 'later' }]));
    const files = await openExportFiles(path);
    if (files === null) throw new Error('It is not taken for a tar file.');
    onTestFinished(files.close);
    writeFileSync(path, '');

    const read = await Promise.all(
      files.files.slice(0, 3).map(async (file) => (await readWhole(files.read(file))).toString()),
    );

    expect(read).toEqual(texts);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
