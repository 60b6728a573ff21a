import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openExportFiles } from '../../../../src/archive/imports/files/open-files.ts';
import { writeZip } from '../../../support/exports/zip.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const files = new Map([
  ['data/b.js', 'window.b = []'],
  ['data/a.js', 'a'.repeat(200_000)],
  ['data/media/1.jpg', 'no picture'],
]);

async function open(path: string) {
  const opened = await openExportFiles(path);
  if (opened !== null) onTestFinished(opened.close);
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
  const opened = await open(path);
  const file = opened?.files[index];
  if (opened === null || file === undefined) throw new Error('There is no such file.');
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.read(file)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('the files of a zip file', () => {
  it('are listed and read, without media', async () => {
    const path = await writeOne();

    expect((await open(path))?.files).toEqual([
      { name: 'twitter-export/data/a.js', bytes: 200_000 },
      { name: 'twitter-export/data/b.js', bytes: 13 },
    ]);
    expect(await readText(path, 0)).toBe('a'.repeat(200_000));
  });

  it('are not read from other files', async () => {
    const path = `${temporaryFolder()}/export.zip`;
    writeFileSync(path, 'PK, but no zip file');

    expect(await open(path)).toBeNull();
  });

  it('are missing in an empty zip file', async () => {
    const path = await writeZip(`${temporaryFolder()}/empty.zip`, new Map());

    await expect(open(path)).rejects.toThrow('The zip file is empty.');
  });

  it('cannot be listed if the end is missing', async () => {
    const path = change(await writeOne(), (bytes) => bytes.subarray(0, -100));

    await expect(open(path)).rejects.toThrow('damaged or incomplete');
  });

  it('are rejected if a name leaves the folder', async () => {
    const path = change(await writeOne(), (bytes) =>
      Buffer.from(
        bytes.toString('latin1').replaceAll('twitter-export/', '../../../expor/'),
        'latin1',
      ),
    );

    await expect(open(path)).rejects.toThrow('invalid relative path');
  });

  it('are rejected if they expand too much together', async () => {
    const name = (n: number) => [`data/${n}.js`, Buffer.alloc(10 * 2 ** 20)] as const;
    const many = new Map(Array.from({ length: 8 }, (_, n) => name(n)));
    const path = await writeZip(`${temporaryFolder()}/export.zip`, many);

    await expect(open(path)).rejects.toThrow('The zip file is too large. It would expand to over');
    const few = await writeZip(`${temporaryFolder()}/few.zip`, new Map([...many].slice(0, 6)));
    expect((await open(few))?.files).toHaveLength(6);
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
