import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Corpus } from '../../src/answers/corpus/corpus.ts';
import { temporaryFolder } from './spawn-perch.ts';

/** Writes files into a temporary folder and returns it as a corpus. It is deleted at the end of the test. */
export function corpusOf(files: Readonly<Record<string, string | Uint8Array>>): Corpus {
  const root = temporaryFolder();
  writeFiles(root, files);
  return { name: 'docs', root };
}

/** Writes files below a folder, and creates missing folders. */
export function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
