import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blueskyFormat } from '../../../../../src/archive/imports/bluesky/bluesky-format.ts';
import { dids, toPostRecord, toTid } from '../../../../support/exports/bluesky-records.ts';
import { writeRepository } from '../../../../support/exports/car-file.ts';
import { readExport } from '../../../../support/exports/read-export.ts';
import { fc, runs } from '../../../../support/fast-check.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';

const records = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => {
    const ms = Date.UTC(2024, 0, 1) + index * 3_600_000;
    const record = toPostRecord(`Post ${index}`, new Date(ms).toISOString());
    return [`app.bsky.feed.post/${toTid(ms)}`, record] as const;
  }),
);
const whole = writeRepository(dids.ada, {
  'app.bsky.actor.profile/self': { $type: 'app.bsky.actor.profile', displayName: 'Ada' },
  ...records,
});

const damage = fc.record({
  length: fc.nat(whole.length),
  flips: fc.array(fc.record({ at: fc.nat(whole.length - 1), bit: fc.nat(7) }), { maxLength: 8 }),
  cut: fc.boolean(),
});

type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

function spoil({ length, flips, cut }: Damage): Buffer {
  const bytes = Buffer.from(whole);
  for (const { at, bit } of flips) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  return cut ? bytes.subarray(0, length) : bytes;
}

describe('a repository with random damage', () => {
  it('is rejected with a sentence, or yields only records that were written', async () => {
    const path = join(temporaryFolder(), 'repo.car');
    const texts = new Set(Object.values(records).map(({ text }) => text));

    await fc.assert(
      fc.asyncProperty(damage, async (given) => {
        writeFileSync(path, spoil(given));
        const items = await readExport(blueskyFormat, path).catch((error: unknown) => {
          expect(String(error)).toMatch(/^Error: [A-Z].*\.$/);
          return null;
        });
        for (const item of items ?? []) {
          if (item.kind === 'post') expect(texts).toContain(item.post.text);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
