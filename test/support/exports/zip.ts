import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';

/** Writes files to a zip file, optionally below a folder, and returns its path. */
export async function writeZip(
  path: string,
  files: ReadonlyMap<string, string | Buffer>,
  folder = '',
): Promise<string> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of files) zip.addBuffer(Buffer.from(content), `${folder}${name}`);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}
