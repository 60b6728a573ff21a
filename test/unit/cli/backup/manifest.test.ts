import { describe, expect, it } from 'vitest';
import { requireSpace, toSize } from '../../../../src/cli/backup/manifest.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

describe('the free space of a disk', () => {
  it('is required before a command writes', () => {
    const folder = temporaryFolder();

    expect(() => requireSpace(folder, 0)).not.toThrow();
    expect(() => requireSpace(folder, 1e18)).toThrow(
      /^The disk with \S+ has [\d.]+ [MG]B free, but the command needs 1000000000\.0 GB\. Free some space/,
    );
  });

  it.each([
    [0, '0.0 MB'],
    [12_345_678, '12.3 MB'],
    [1_500_000_000, '1.5 GB'],
  ])('%i bytes are written as %s', (bytes, text) => {
    expect(toSize(bytes)).toBe(text);
  });
});
