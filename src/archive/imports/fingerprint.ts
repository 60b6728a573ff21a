import { createHash, type Hash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolderFiles } from './files/open-files.ts';

const importVersion = 3;

/** Parts of each file that are hashed: samples of `bytes` bytes, spread evenly over the file. */
const sample = { bytes: 65_536, places: 8 } as const;

/** Hashes an export and `form` (format and handle). `changed`: latest Unix second of its files. */
export async function fingerprintExport(path: string, form: string) {
  const hash = createHash('sha256').update(`${importVersion} ${form}\n`);
  const folder = await openFolderFiles(path);
  if (folder === null)
    return { changed: await addFile(hash, path), fingerprint: hash.digest('hex') };
  let changed = 0;
  // Media files and web pages are not imported, so they are not hashed.
  const records = folder.files.filter(({ name }) => /\.(?:js|json|csv|car|ndjson)$/.test(name));
  for (const { name } of records) {
    hash.update(`${name}\n`);
    changed = Math.max(changed, await addFile(hash, join(path, name)));
  }
  return { changed, fingerprint: hash.digest('hex') };
}

async function addFile(hash: Hash, path: string): Promise<number> {
  const { size, mtimeMs } = await stat(path);
  hash.update(`${size} ${mtimeMs}\n`);
  const file = await open(path, 'r');
  const buffer = Buffer.alloc(sample.bytes);
  try {
    for (let place = 0; place < sample.places; place++) {
      const at = Math.floor((Math.max(0, size - sample.bytes) * place) / (sample.places - 1));
      const { bytesRead } = await file.read(buffer, 0, sample.bytes, at);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
  return Math.floor(mtimeMs / 1000);
}
