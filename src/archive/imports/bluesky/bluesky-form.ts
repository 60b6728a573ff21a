import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { ExportForm, ExportHints, ExportItem, ExportSource } from '../export-source.ts';
import { skip } from '../skip.ts';
import { openBlockIndex } from './block-index.ts';
import { createBlocks } from './blocks.ts';
import { type CarHeader, readCarHeader, walkBlocks } from './car.ts';
import { type FileWindow, openFileWindow } from './file-window.ts';
import { readItems } from './read-items.ts';

/**
 * A repository of Bluesky, as `com.atproto.sync.getRepo` and the app's own export give it: a CAR file
 * (`car.ts`) of a commit, a tree (`tree.ts`) and records (`records.ts`). Nothing is fetched, so the
 * signature of the commit is not checked; what is read is what the commit's hashes say.
 */
export const blueskyForm: ExportForm = {
  name: 'bluesky',
  takesHandle: true,
  open: async (path, hints) => {
    if (!statSync(path).isFile()) return null;
    const file = openFileWindow(path);
    try {
      const header = readCarHeader(file);
      if (header !== null) return openRepository(file, header, hints ?? {});
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
    return null;
  },
};

/** How many blocks are placed before others have their turn, such as who shows the progress. */
const turn = 10_000;

/** How many records are read before others have theirs, such as the signal to stop. */
const groupLength = 100;

function openRepository(file: FileWindow, header: CarHeader, hints: ExportHints): ExportSource {
  const index = openBlockIndex();
  const progress = { placed: 0, read: 0 };
  const count = (bytes: number) => {
    progress.read += bytes;
  };
  return {
    title: 'Bluesky repository',
    // The file is gone through twice: for the places of its blocks, then for what is in them.
    totalBytes: 2 * file.size,
    get bytesRead() {
      return progress.placed + Math.min(progress.read, file.size);
    },
    groups: async function* (): AsyncGenerator<readonly ExportItem[], void, undefined> {
      const walk = walkBlocks(file, header.end);
      for (let last = index.fill(walk, turn); last !== null; last = index.fill(walk, turn)) {
        progress.placed = last.offset + last.length;
        await setImmediate();
      }
      progress.placed = file.size;
      if (walk.broken !== null) yield [{ ...skip('the file', walk.broken), isCutOff: true }];
      const items = readItems(createBlocks(file, index, count), { root: header.root, hints });
      for (let some = takeSome(items); some.length > 0; some = takeSome(items)) {
        yield some;
        await setImmediate();
      }
      progress.read = file.size;
    },
    close: async () => {
      index.close();
      file.close();
    },
  };
}

/** Takes the next items; none where there are no more. */
function takeSome(items: Iterator<ExportItem>): readonly ExportItem[] {
  const some: ExportItem[] = [];
  while (some.length < groupLength) {
    const next = items.next();
    if (next.done === true) break;
    some.push(next.value);
  }
  return some;
}
