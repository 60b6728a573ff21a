import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { timeOfXId } from '../../../../../src/normalize/x.ts';
import {
  cursorBefore,
  leastIdAt,
  readTimelineCursor,
  writeTimelineCursor,
} from '../../../../../src/providers/fxtwitter/lists/timeline.ts';
import { fc } from '../../../../support/fast-check.ts';
import { fixturesPresent, readFixture } from '../../../../support/fixtures.ts';

const page = z.object({
  results: z.array(z.object({ id: z.string() })),
  cursor: z.object({ top: z.string(), bottom: z.string() }),
});

describe('a timeline cursor', () => {
  it.skipIf(!fixturesPresent)('is parsed and written as X writes it', () => {
    const name = 'fxtwitter/statuses/xdevelopers-page.json';
    const { results, cursor } = page.parse(readFixture(name).response.body);

    const top = readTimelineCursor(cursor.top);
    const bottom = readTimelineCursor(cursor.bottom);

    expect(top).toMatchObject({ sortId: 2083305234688803178n, direction: 'top' });
    expect(bottom).toMatchObject({ sortId: BigInt(results.at(-1)?.id ?? 0), direction: 'bottom' });
    expect(top && writeTimelineCursor(top)).toBe(cursor.top);
    expect(bottom && writeTimelineCursor(bottom)).toBe(cursor.bottom);
  });

  it('is parsed as it was written', () => {
    const cursors = fc.record({
      issuedId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      sortId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      direction: fc.constantFrom('top', 'bottom'),
    });

    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(readTimelineCursor(writeTimelineCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['a cursor of accounts', '1872784690123924126|2085474371463282617'],
    ['a cursor of a search', 'DAACCgACHDTpv61AJxAKAAMcNOm_rT_Y8AgABAAAAAEAAA'],
    ['a cursor that is cut', 'DAAHCgABHPEX6f6__-sLAAIAAAATMjA3MjEyNjY3NzUzNTM0Njc3OQgAAwAAAAIA'],
    ['a false length', 'DAAHCgABHPEX6f6__-sLAAIAAAASMjA3MjEyNjY3NzUzNTM0Njc3OQgAAwAAAAIAAA'],
    ['an unknown direction', 'DAAHCgABHPEX6f6__-sLAAIAAAATMjA3MjEyNjY3NzUzNTM0Njc3OQgAAwAAAAMAAA'],
  ])('is not parsed from %s', (_title, text) => {
    expect(readTimelineCursor(text)).toBeNull();
  });

  it('before a time has the lowest id at that time', () => {
    const ms = Date.UTC(2026, 2, 4, 9, 12);
    const nowMs = Date.UTC(2026, 10, 21);

    const cursor = readTimelineCursor(cursorBefore(ms, nowMs));

    expect(cursor?.direction).toBe('bottom');
    expect(timeOfXId(cursor?.sortId ?? 0n)).toBe(ms);
    expect(timeOfXId((cursor?.sortId ?? 0n) - 1n)).toBe(ms - 1);
    expect(timeOfXId(cursor?.issuedId ?? 0n)).toBe(nowMs);
  });
});

describe('the time of an id', () => {
  it('is when the post was written', () => {
    // The recorded post of `fxtwitter/status`: Tue Oct 01 19:59:18 +0000 2024.
    expect(Math.floor((timeOfXId(1841206275088290279n) ?? 0) / 1000)).toBe(
      Date.UTC(2024, 9, 1, 19, 59, 18) / 1000,
    );
  });

  it('is unknown for sequential ids', () => {
    expect(timeOfXId(20n)).toBeNull();
    expect(timeOfXId(leastIdAt(Date.UTC(2006, 2, 21)))).toBeNull();
  });
});
