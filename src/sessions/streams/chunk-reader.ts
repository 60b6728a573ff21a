import { LRUCache } from 'lru-cache';
import { fillToken } from '../events.ts';
import type { SessionStore } from '../store/session-store.ts';
import { chunkLength, type StoredEvent } from '../store/session-store.ts';

type Position = Readonly<{ index: number; offset: number }>;

type Chunk = Readonly<{ bytes: Buffer; next: Position }>;

interface ChunkRange {
  readonly sessionId: string;
  readonly from: Position;
  /** Index of the first event after the range. */
  readonly untilIndex: number;
  /** Continuation token to insert into events; `null` to insert none. */
  readonly token: string | null;
}

const maxCachedBytes = 4_194_304;

type Source = Pick<SessionStore, 'readEvents' | 'readPart'>;

const lineEnd = Buffer.from('\n');

/** Creates a cached reader. Concurrent reads of the same range share a database query. */
export function createChunkReader(source: Source) {
  const cache = new LRUCache<string, Chunk>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  });
  const inFlight = new Map<string, Promise<Chunk | null>>();
  const read = async (range: ChunkRange, key: string): Promise<Chunk | null> => {
    try {
      const chunk = await readChunk(range, source);
      if (chunk !== null) cache.set(key, chunk);
      return chunk;
    } finally {
      inFlight.delete(key);
    }
  };
  return {
    /** Reads the events that fit into one chunk, or a part of a long event. `null`: empty range. */
    read: async (range: ChunkRange): Promise<Chunk | null> => {
      const { sessionId, from, untilIndex, token } = range;
      const key = `${sessionId} ${from.index} ${from.offset} ${untilIndex} ${token ?? ''}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const reading = inFlight.get(key) ?? read(range, key);
      inFlight.set(key, reading);
      return reading;
    },
    forget: (sessionId: string): void => {
      for (const key of cache.keys()) if (key.startsWith(`${sessionId} `)) cache.delete(key);
    },
  };
}

async function readChunk({ sessionId, from, untilIndex, token }: ChunkRange, source: Source) {
  const { index, offset } = from;
  const part = await source.readPart(sessionId, from);
  if (part !== undefined) {
    const { bytes, isLast } = part;
    if (!isLast) return { bytes, next: { index, offset: offset + bytes.length } };
    return { bytes: Buffer.concat([bytes, lineEnd]), next: { index: index + 1, offset: 0 } };
  }
  const events = await source.readEvents(sessionId, index);
  const wanted = events.filter((event) => event.index < untilIndex);
  return wanted.length === 0 ? null : toChunk(wanted, token);
}

/** Joins whole events that fit into `chunkLength` characters, but at least one event. */
export function toChunk(events: readonly StoredEvent[], token: string | null): Chunk {
  const lines: string[] = [];
  let length = 0;
  for (const { line } of events) {
    if (lines.length > 0 && length + line.length > chunkLength) break;
    lines.push(token === null ? line : fillToken(line, token));
    length += line.length;
  }
  const index = (events[0]?.index ?? 0) + lines.length;
  return { bytes: Buffer.from(`${lines.join('\n')}\n`), next: { index, offset: 0 } };
}
