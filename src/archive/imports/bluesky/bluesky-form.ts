import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  type ExportForm,
  type ExportHints,
  type ExportItem,
  type ExportSource,
  skip,
} from '../export-source.ts';
import { type Blocks, openBlocks } from './blocks.ts';
import { type CarHeader, readCarHeader, walkBlocks } from './car.ts';
import { type FileWindow, openFileWindow } from './file-window.ts';
import { readItems } from './read-items.ts';

/**
 * A repository of Bluesky, as `com.atproto.sync.getRepo` and the app's own export give it: a CAR file (`car.ts`) of a
 * commit, a tree (`tree.ts`) and records (`records.ts`). Nothing is fetched, so the signature of the commit is not
 * checked; what is read is what the commit's hashes say.
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
  const blocks = openBlocks(file);
  // The file is gone through twice: for the places of its blocks, then for what is in them.
  const totalBytes = 2 * file.size;
  let placed = 0;
  return {
    title: 'Bluesky repository',
    totalBytes,
    get bytesRead() {
      return Math.min(placed + blocks.bytesRead, totalBytes);
    },
    groups: async function* () {
      for await (const end of placeBlocks(file, header.end, blocks)) {
        if (typeof end === 'number') placed = end;
        else yield [{ ...skip('the file', end), isCutOff: true }];
      }
      placed = file.size;
      let some: ExportItem[] = [];
      for (const item of readItems(blocks, { root: header.root, hints })) {
        some.push(item);
        if (some.length < groupLength) continue;
        yield some;
        some = [];
        await setImmediate();
      }
      yield some;
      placed = totalBytes;
    },
    close: async () => {
      blocks.close();
      file.close();
    },
  };
}

/** Notes where the blocks are; yields now and then how far it is, last why it ended early if it did. */
async function* placeBlocks(file: FileWindow, from: number, blocks: Blocks) {
  let count = 0;
  for (const block of walkBlocks(file, from)) {
    if (typeof block === 'string') {
      yield block;
      return;
    }
    blocks.add(block);
    count += 1;
    if (count % turn !== 0) continue;
    yield block.offset + block.length;
    await setImmediate();
  }
}
