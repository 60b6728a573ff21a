import { expect } from 'vitest';
import type { TestApp } from './build-app.ts';

/** Formats whose own length `max_chars` limits. */
const ownLength = /[?&]format=(?:markdown|json|obsidian)\b/;

/**
 * Checks that the text of a read stays within `max_chars`: within the default of the MCP tools in any case, and within a
 * small value unless the text has a single item, whose texts are cut.
 */
export async function expectBounded(app: TestApp, path: string): Promise<void> {
  if (!ownLength.test(path)) return;
  const read = (maxChars: number) => app.request(`${path}&max_chars=${maxChars}`);
  const [usual, small] = [await read(60_000), await read(2500)];
  expect([path, usual.body.length <= 60_000]).toEqual([path, true]);
  const isOne = small.body.includes('were cut') && Number(small.headers['x-result-count']) < 2;
  expect([path, small.body.length <= 2500 || isOne]).toEqual([path, true]);
}
