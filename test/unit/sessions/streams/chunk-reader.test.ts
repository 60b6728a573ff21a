import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../../src/sessions/store/session-store.ts';
import { createChunkReader, toChunk } from '../../../../src/sessions/streams/stream-reader.ts';

function eventsFrom(first: number, lengths: readonly number[]): readonly StoredEvent[] {
  return lengths.map((length, at) => ({ index: first + at, line: 'x'.repeat(length) }));
}

describe('toChunk', () => {
  it('joins at least one event, and no more than fit', () => {
    const nextOf = (lengths: readonly number[]) => toChunk(eventsFrom(7, lengths), null).next;

    expect(nextOf([500_000, 1])).toBe(8);
    expect(nextOf([60_000, 5_000, 1000])).toBe(9);
    expect(nextOf([1, 1, 1])).toBe(10);
  });
});

/** Chunks of a log in which each line has this length, and the queries made. */
function openLog(length: number) {
  const reads: string[] = [];
  const chunks = createChunkReader({
    readEvents: async (sessionId, from) => {
      reads.push(`${sessionId} ${from}`);
      return from < 1000 ? eventsFrom(from, [length]) : [];
    },
  });
  const pieceAt = (index: number, sessionId = 'ses_a', token: string | null = null) =>
    chunks.read({ sessionId, index, untilIndex: 1001, token });
  return { reads, chunks, pieceAt };
}

describe('createChunkReader', () => {
  it('reads once for concurrent readers of the same range', async () => {
    const { reads, pieceAt } = openLog(10);

    const together = await Promise.all([pieceAt(3), pieceAt(3)]);
    await Promise.all([pieceAt(4), pieceAt(3, 'ses_b'), pieceAt(3, 'ses_a', 'svct_t')]);

    expect(new Set(together).size).toBe(1);
    expect(together[0]).toEqual({
      bytes: Buffer.from(`${'x'.repeat(10)}\n`),
      next: 4,
    });
    expect(reads).toEqual(['ses_a 3', 'ses_a 4', 'ses_b 3', 'ses_a 3']);
  });

  it('caches chunks for later readers', async () => {
    const { reads, pieceAt } = openLog(10);

    const first = await pieceAt(3);
    const later = [await pieceAt(3), await pieceAt(3)];

    expect(later).toEqual([first, first]);
    expect(reads).toEqual(['ses_a 3']);
  });

  it('ends a chunk where the range ends, and reads again for a longer range', async () => {
    const reads: number[] = [];
    const chunks = createChunkReader({
      readEvents: async (_, from) => {
        reads.push(from);
        return eventsFrom(from, [1, 1, 1]);
      },
    });
    const nextOf = async (untilIndex: number) => {
      const place = { sessionId: 'ses_a', index: 0, untilIndex, token: null };
      return (await chunks.read(place))?.next;
    };

    expect([await nextOf(1), await nextOf(3), await nextOf(3)]).toEqual([1, 3, 3]);
    expect(reads).toEqual([0, 0]);
  });

  it('queries again if there was nothing to read, or reading failed', async () => {
    let fault: Error | null = new Error('no store');
    const chunks = createChunkReader({
      readEvents: async () => {
        if (fault !== null) throw fault;
        return [];
      },
    });
    const place = { sessionId: 'ses_a', index: 0, untilIndex: 1, token: null };

    await expect(chunks.read(place)).rejects.toThrow('no store');
    fault = null;
    expect(await chunks.read(place)).toBeNull();

    const { reads, pieceAt } = openLog(1);
    await pieceAt(1000);
    await pieceAt(1000);
    expect(reads).toHaveLength(2);
  });

  it('evicts the oldest chunks beyond four megabytes', async () => {
    const { reads, pieceAt } = openLog(1_000_000);
    for (const from of [0, 1, 2, 3, 4]) await pieceAt(from);
    reads.length = 0;

    for (const from of [4, 3, 2, 1]) await pieceAt(from);
    expect(reads).toEqual([]);
    await pieceAt(0);
    expect(reads).toEqual(['ses_a 0']);
  });

  it('evicts the chunks of a purged session', async () => {
    const { reads, chunks, pieceAt } = openLog(1);
    const readAll = () => Promise.all([pieceAt(0), pieceAt(1), pieceAt(0, 'ses_ab')]);
    await readAll();
    reads.length = 0;

    chunks.forget('ses_a');
    await readAll();

    expect(reads).toEqual(['ses_a 0', 'ses_a 1']);
  });
});
