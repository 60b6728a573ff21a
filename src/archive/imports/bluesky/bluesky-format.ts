import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  type ExportFormat,
  type ExportHints,
  type ExportSource,
  skipRecord,
} from '../export-source.ts';
import { type Blocks, openBlocks } from './blocks.ts';
import {
  type CarHeader,
  type FileWindow,
  listBlocks,
  openFileWindow,
  readCarHeader,
} from './car.ts';
import { readItems } from './read-items.ts';

/**
 * Import format of Bluesky repositories: CAR files from `com.atproto.sync.getRepo` or from the app.
 * Verifies the hash of each block, but not the signature of the commit, because the file lacks the
 * public key.
 */
export const blueskyFormat: ExportFormat = {
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

const blocksPerTurn = 10_000; // number of blocks that are indexed per turn of the event loop

function openRepository(file: FileWindow, header: CarHeader, hints: ExportHints): ExportSource {
  const blocks = openBlocks(file);
  // The file is read twice: for the positions of its blocks, then for their content.
  const totalBytes = 2 * file.size;
  let bytesIndexed = 0;
  return {
    title: 'Bluesky repository',
    totalBytes,
    get bytesRead() {
      return Math.min(bytesIndexed + blocks.bytesRead, totalBytes);
    },
    groups: async function* () {
      for await (const end of indexBlocks(file, header.end, blocks)) {
        if (typeof end === 'number') bytesIndexed = end;
        else yield [{ ...skipRecord('the file', end), isCutOff: true }];
      }
      bytesIndexed = file.size;
      const start = { root: header.root, hints, nowMs: hints.nowMs ?? Number.POSITIVE_INFINITY };
      for (const group of readItems(blocks, start)) {
        yield group;
        await setImmediate();
      }
      bytesIndexed = totalBytes;
    },
    close: async () => {
      blocks.close();
      file.close();
    },
  };
}

async function* indexBlocks(file: FileWindow, from: number, blocks: Blocks) {
  let count = 0;
  for (const block of listBlocks(file, from)) {
    if (typeof block === 'string') {
      yield block;
      return;
    }
    blocks.add(block);
    count += 1;
    if (count % blocksPerTurn !== 0) continue;
    yield block.offset + block.length;
    await setImmediate();
  }
}
