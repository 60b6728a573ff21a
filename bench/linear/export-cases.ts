import { countElements } from '../../src/archive/imports/left-out.ts';
import type { Case } from './upstreams.ts';

const chunkBytes = 65_536;

/** Files of exports that are expensive to count, although they are no valid JSON. */
const files: Readonly<Record<string, (bytes: number) => string>> = {
  'unmatched closing braces': (bytes) => `[${'['.repeat(bytes / 2)}${'}'.repeat(bytes / 2)}`,
  'unmatched closing brackets': (bytes) =>
    `[${'{"a":'.repeat(bytes / 10)}${'}]'.repeat(bytes / 4)}`,
  'nested lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
};

/** Test cases with expensive files of exports. */
export const exportCases: readonly Case[] = Object.entries(files).map(([name, write]) => ({
  name: `import, count items: ${name}`,
  maxBytes: 16 * 2 ** 20,
  prepare: (_seed, bytes) => {
    const file = Buffer.from(write(bytes));
    return async () => void (await countElements(() => inChunks(file), file.length));
  },
}));

async function* inChunks(file: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes);
}
