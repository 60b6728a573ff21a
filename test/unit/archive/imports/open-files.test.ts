import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ExportFile,
  type ExportFiles,
  readStart,
} from '../../../../src/archive/imports/export-source.ts';
import { openExportFiles } from '../../../../src/archive/imports/open-files.ts';
import { writeTar, writeTarGz } from '../../../support/exports/tar-file.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const files = new Map([
  ['data/b.js', 'window.b = []'],
  ['data/a.js', 'a'.repeat(200_000)],
  ['data/media/1.jpg', 'no picture'],
]);

async function openFiles(path: string) {
  const opened = await openExportFiles(path);
  onTestFinished(opened.close);
  return opened;
}

async function writeOne(): Promise<string> {
  return writeZip(`${temporaryFolder()}/export.zip`, files, 'twitter-export/');
}

/** Modifies the bytes of a zip file. */
function change(path: string, edit: (bytes: Buffer) => Buffer | undefined): string {
  const bytes = readFileSync(path);
  writeFileSync(path, edit(bytes) ?? bytes);
  return path;
}

async function readText(path: string, index: number): Promise<string> {
  const opened = await openFiles(path);
  const file = opened.files[index];
  if (file === undefined) throw new Error('There is no such file.');
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('the files of a zip file', () => {
  it('are listed and read, without media', async () => {
    const path = await writeOne();

    expect((await openFiles(path)).files).toMatchObject([
      { name: 'twitter-export/data/a.js', bytes: 200_000 },
      { name: 'twitter-export/data/b.js', bytes: 13 },
    ]);
    expect(await readText(path, 0)).toBe('a'.repeat(200_000));
  });

  it('are not read from other files', async () => {
    const path = `${temporaryFolder()}/export.zip`;
    writeFileSync(path, 'PK, but no zip file');

    expect(await openFiles(path)).toMatchObject({ kind: 'file' });
  });

  it('are missing in an empty zip file', async () => {
    const path = await writeZip(`${temporaryFolder()}/empty.zip`, new Map());

    await expect(openFiles(path)).rejects.toThrow('The zip file is empty.');
  });

  it('cannot be listed if the end is missing', async () => {
    const path = change(await writeOne(), (bytes) => bytes.subarray(0, -100));

    await expect(openFiles(path)).rejects.toThrow('damaged or incomplete');
  });

  it('are rejected if a name leaves the folder', async () => {
    const path = change(await writeOne(), (bytes) =>
      Buffer.from(
        bytes.toString('latin1').replaceAll('twitter-export/', '../../../expor/'),
        'latin1',
      ),
    );

    await expect(openFiles(path)).rejects.toThrow('invalid relative path');
  });

  it('are rejected if they expand too much together', async () => {
    const name = (n: number) => [`data/${n}.js`, Buffer.alloc(10 * 2 ** 20)] as const;
    const many = new Map(Array.from({ length: 8 }, (_, n) => name(n)));
    const path = await writeZip(`${temporaryFolder()}/export.zip`, many);

    await expect(openFiles(path)).rejects.toThrow(
      'The zip file is too large. It would expand to over',
    );
    const few = await writeZip(`${temporaryFolder()}/few.zip`, new Map([...many].slice(0, 6)));
    expect((await openFiles(few)).files).toHaveLength(6);
  });

  it('are rejected if they are encrypted', async () => {
    const path = change(await writeOne(), (bytes) => {
      for (
        let at = bytes.indexOf('PK\x01\x02');
        at >= 0;
        at = bytes.indexOf('PK\x01\x02', at + 4)
      ) {
        bytes.writeUInt16LE(bytes.readUInt16LE(at + 8) | 1, at + 8);
      }
      return undefined;
    });

    await expect(readText(path, 0)).rejects.toThrow('The zip file is encrypted.');
  });

  it('are rejected if they expand too much', async () => {
    const large = new Map([['data/a.js', Buffer.alloc(65 * 2 ** 20)]]);
    const path = await writeZip(`${temporaryFolder()}/bomb.zip`, large);

    await expect(readText(path, 0)).rejects.toThrow('is too large');
  });

  it('are reported if they are damaged', async () => {
    const path = change(await writeOne(), (bytes) => {
      const begin = bytes.indexOf('a.js') + 4;
      bytes.fill(0xff, begin, begin + 40);
      return undefined;
    });

    await expect(readText(path, 0)).rejects.toThrow('is damaged in the zip file');
  });
});

const mib = 2 ** 20;

async function openTar(bytes: Buffer): Promise<ExportFiles> {
  const path = `${temporaryFolder()}/export.tar.gz`;
  writeFileSync(path, bytes);
  return openFiles(path);
}

async function countBytes(files: ExportFiles): Promise<number> {
  let count = 0;
  for (const file of files.files) {
    for await (const chunk of file.read()) count += chunk.length;
  }
  return count;
}

describe('the files of a tar file', () => {
  it('are listed without media', async () => {
    const members = ['outbox.json', 'media/1.jpg', 'actor.json', 'likes.txt'];

    const files = await openTar(writeTarGz(members.map((name) => ({ name, content: 'a' }))));

    expect(files.files.map(({ name }) => name)).toEqual(['outbox.json', 'actor.json']);
  });

  it('are limited to ten thousand', async () => {
    const members = Array.from({ length: 10_010 }, (_, n) => ({ name: `${n}.json`, content: '' }));

    expect((await openTar(writeTarGz(members))).files).toHaveLength(10_000);
  });

  it('are rejected if they expand too much', async () => {
    const bomb = gzipSync(writeTar([{ name: 'outbox.json', content: Buffer.alloc(80 * mib) }]));

    await expect(openTar(bomb)).rejects.toThrow('The tar file is too large. It expands to over');
  });

  it('are rejected if earlier entries expand too much', async () => {
    const bomb = writeTarGz([
      { name: 'padding.bin', content: Buffer.alloc(80 * mib) },
      { name: 'outbox.json', content: '{}' },
    ]);

    await expect(openTar(bomb)).rejects.toThrow('The tar file is too large. It expands to over');
  });

  it('have the size in their pax header, which does not apply to headers', async () => {
    const size = { name: 'pax', type: 'x', content: '14 size=10000\n' };
    const path = { name: 'pax', type: 'x', content: '15 path=a.json\n' };

    const files = await openTar(writeTar([size, path, { name: 'b.json', content: '{}' }]));

    expect(files.files).toMatchObject([{ name: 'a.json', bytes: 2 }]);
  });

  it('can be large if uncompressed, and expand if small', async () => {
    const text = Buffer.alloc(80 * mib);
    const plain = await openTar(writeTar([{ name: 'outbox.json', content: text }]));
    const short = await openTar(writeTarGz([{ name: 'outbox.json', content: Buffer.alloc(mib) }]));

    expect([await countBytes(plain), await countBytes(short)]).toEqual([80 * mib, mib]);
  });

  it.each([
    ['the content', 512 + 2900, { 'a.json': 2900 }],
    ['the padding', 512 + 3020, { 'a.json': 3000 }],
    ['a header', 512 + 3072 + 100, { 'a.json': 3000 }],
    ['the content of the next file', 512 + 3072 + 512 + 40, { 'a.json': 3000, 'b.json': 40 }],
  ])('are read up to the cut within %s', async (_name, length, expected) => {
    const members = ['a.json', 'b.json'].map((name) => ({ name, content: 'x'.repeat(3000) }));

    const files = await openTar(writeTar(members).subarray(0, length));

    const sizes: Record<string, number> = {};
    for (const file of files.files)
      sizes[file.name] = await countBytes({ ...files, files: [file] });
    expect(sizes).toEqual(expected);
  });

  it('are all read if a caller stops within one', async () => {
    const path = `${temporaryFolder()}/export.tar`;
    const members = ['a.json', 'b.json', 'c.json'];
    writeFileSync(path, writeTar(members.map((name) => ({ name, content: Buffer.alloc(mib) }))));

    const names: string[] = [];
    for await (const file of (await openFiles(path)).all()) {
      names.push(file.name);
      for await (const _chunk of file.read()) break;
    }

    expect(names).toEqual(members);
  });

  it('are listed up to a damaged header', async () => {
    const bytes = writeTar(['a.json', 'b.json'].map((name) => ({ name, content: '{}' })));
    bytes.fill(0xff, 1024, 1040);

    expect((await openTar(bytes)).files).toMatchObject([{ name: 'a.json', bytes: 2 }]);
  });

  it('are named without another look at the tar file', async () => {
    const path = `${temporaryFolder()}/export.tar.gz`;
    writeFileSync(path, writeTarGz(['1.jpg', 'a.json'].map((name) => ({ name, content: 'x' }))));
    const files = await openFiles(path);
    writeFileSync(path, '');

    const listed: ExportFile[] = [];
    for await (const file of files.list()) listed.push(file);

    expect(listed).toMatchObject([
      { name: '1.jpg', bytes: 1 },
      { name: 'a.json', bytes: 1 },
    ]);
  });

  it('are read from the tar file once, and leave no temporary file', async () => {
    const [path, temporary] = [`${temporaryFolder()}/export.tar.gz`, temporaryFolder()];
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const texts = ['first', '', 'x'.repeat(300_000)];
    const members = texts.map((content, n) => ({ name: `${n}.json`, content }));
    writeFileSync(path, writeTarGz([...members, { name: '0.json', content: 'later' }]));
    const files = await openFiles(path);
    writeFileSync(path, '');

    const read = await Promise.all(
      files.files.slice(0, 3).map(async (file) => (await readStart(file.read(), mib)).toString()),
    );

    expect(read).toEqual(texts);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
