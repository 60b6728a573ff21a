import type { Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Client } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { createCoalescer } from '../../lib/scheduling/coalesce.ts';
import { type EventDraft, fillToken, type LeaseRecord, toEventLine } from '../events.ts';
import {
  chunkLength,
  type SessionStore,
  type StampEvent,
  type StoredEvent,
} from '../store/session-store.ts';
import { isLive, type SessionRecord } from '../store/state.ts';

export type FollowMode = 'automatic' | 'once' | 'follow' | 'lease';

export interface StreamRequest {
  readonly record: SessionRecord;
  /** First event to send. A negative value counts from the end: -1 is the last event. */
  readonly startIndex: number;
  readonly mode: FollowMode;
  /** Continuation token to insert into events; `null` to insert none. */
  readonly token: string | null;
  /** Client that reads the event stream; `null` for the command line. */
  readonly client: Client | null;
}

type Times = 'heartbeatMs' | 'leaseMs' | 'followMs' | 'stallMs';
export type StreamTimes = Readonly<Record<Times, number>>;

export interface Feed {
  readonly sessionId: string;
  /** Last committed record; `undefined` before it is loaded and after a deletion. */
  record: SessionRecord | undefined;
  /** Last events of all streams if the next one cannot be stored; otherwise `null`. */
  lastEvents: readonly EventDraft[] | null;
}

export type Reader = ReturnType<typeof createReader>;

/** Creates the state of a stream. */
export function createReader(
  { record: { events }, mode, token, startIndex }: StreamRequest,
  { nowMs, times }: { readonly nowMs: number; readonly times: StreamTimes },
) {
  let isWoken = false;
  let resume: (() => void) | null = null;
  const noEnd = Number.POSITIVE_INFINITY;
  const { leaseMs: lease, followMs: follow } = times;
  const durationMs = { lease, follow, automatic: noEnd, once: noEnd };
  return {
    mode,
    token,
    cursor: startIndex < 0 ? Math.max(0, events + startIndex) : Math.min(startIndex, events),
    /** Bytes already sent of the chunk that begins at `cursor`. */
    offset: 0,
    /** Index of the first event not to send; `Infinity` to also send later events. */
    untilIndex: mode === 'once' ? events : noEnd,
    untilMs: nowMs + durationMs[mode],
    outputMs: nowMs,
    /** Start time of the current write in milliseconds; `Infinity` if no write is in progress. */
    writingSinceMs: noEnd,
    /** Whether to end the stream after it has sent the events stored so far. */
    isClosing: false,
    wake: (): void => {
      isWoken = true;
      resume?.();
    },
    /** Resolves at the next `wake`, or immediately if `wake` was called since the last `wait`. */
    wait: async (): Promise<void> => {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      isWoken = false;
      resume = null;
    },
  };
}

export type Sending = Readonly<{ reader: Reader; feed: Feed; sink: Writable }>;

interface SendOptions {
  readonly chunks: ReturnType<typeof createChunkReader>;
  readonly clock: Clock;
  readonly times: StreamTimes;
  readonly stamp: StampEvent;
}

const leaseRecord: LeaseRecord = { $eve: 'stream.lease-ended', version: 1 };
const leaseEnded = Buffer.from(`${JSON.stringify(leaseRecord)}\n`);
const heartbeat = Buffer.from(' '); // white space before a line, which keeps an idle stream alive
/** Maximum bytes of one write. If it takes too long, the client counts as stalled. */
const maxWriteBytes = 65_536;
/** Maximum bytes of a chunk that a slow client can keep in memory. */
const maxKeptBytes = 2 * maxWriteBytes;

/** Sends stored, then new events until the stream ends. Rejects if the store cannot be read. */
export async function sendStream(sending: Sending, options: SendOptions): Promise<void> {
  const { reader, feed, sink } = sending;
  const { clock, times, chunks } = options;
  while (!sink.destroyed) {
    const range = toRange(reader, feed);
    const chunk = range && (await chunks.read(range));
    if (chunk !== null) {
      await sendPart(chunk, sending, clock);
    } else if (isOver(reader, feed, clock.now())) {
      break;
    } else if (clock.now() - reader.outputMs >= times.heartbeatMs) {
      await write(heartbeat, sending, clock);
    } else {
      await reader.wait();
    }
  }
  await write(toLastLines(sending, options.stamp), sending, clock);
  endStream(sending);
}

async function sendPart({ bytes, next }: Chunk, sending: Sending, clock: Clock): Promise<void> {
  const { reader } = sending;
  const part = bytes.subarray(reader.offset, reader.offset + maxWriteBytes);
  // A pending write would keep the whole chunk in memory, which a long event makes large.
  await write(bytes.length > maxKeptBytes ? Buffer.from(part) : part, sending, clock);
  reader.offset += part.length;
  if (reader.offset === bytes.length) [reader.cursor, reader.offset] = [next, 0];
}

/** Ends a stream. Destroys the connection after a partial event, so that clients get an error. */
export function endStream({ reader, sink }: Omit<Sending, 'feed'>): void {
  if (reader.offset === 0) sink.end();
  else sink.destroy();
}

function toLastLines({ reader, feed }: Sending, stamp: StampEvent): Buffer {
  const { lastEvents, record } = feed;
  // Their indexes are those of the events that will be stored next.
  const events = isStalled(feed) && reader.mode !== 'once' ? (lastEvents ?? []) : [];
  const lines = events.map((event, at) => {
    const index = (record?.events ?? 0) + at;
    return { index, line: toEventLine(event, stamp(index)) };
  });
  const bytes = lines.length === 0 ? [] : [toChunk(lines, reader.token).bytes];
  return Buffer.concat([...bytes, ...(isLeased(reader, feed) ? [leaseEnded] : [])]);
}

const isStalled = ({ lastEvents, record }: Feed): boolean =>
  lastEvents !== null && record?.state === 'running';

const isLeased = ({ mode }: Reader, { record }: Feed): boolean =>
  mode === 'lease' && record !== undefined && isLive(record.state);

function toRange({ cursor: index, token, ...reader }: Reader, { sessionId, record }: Feed) {
  const untilIndex = Math.min(record?.events ?? 0, reader.untilIndex);
  return index >= untilIndex ? null : { sessionId, index, untilIndex, token };
}

function isOver(reader: Reader, feed: Feed, nowMs: number): boolean {
  const { record } = feed;
  if (isStalled(feed)) return true;
  if (record === undefined || !isLive(record.state) || reader.isClosing) return true;
  if (reader.cursor >= reader.untilIndex || nowMs >= reader.untilMs) return true;
  return reader.mode === 'automatic' && record.state === 'waiting';
}

async function write(bytes: Buffer, { reader, sink }: Sending, clock: Clock): Promise<void> {
  if (bytes.length === 0 || sink.destroyed) return;
  reader.writingSinceMs = clock.now();
  await flush(bytes, sink);
  reader.writingSinceMs = Number.POSITIVE_INFINITY;
  reader.outputMs = clock.now();
}

function flush(bytes: Buffer, sink: Writable): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      sink.off('close', finish);
      resolve();
    };
    sink.once('close', finish);
    sink.write(bytes, finish);
  });
}

/** Stored lines of events. `next`: index of the first event after them. */
type Chunk = Readonly<{ bytes: Buffer; next: number }>;

interface ChunkRange {
  readonly sessionId: string;
  /** Index of the first event. */
  readonly index: number;
  /** Index of the first event after the range. */
  readonly untilIndex: number;
  /** Continuation token to insert into events; `null` to insert none. */
  readonly token: string | null;
}

const maxCachedBytes = 4_194_304;

/** Creates a cached reader. Concurrent reads of the same range share a database query. */
export function createChunkReader({ readEvents }: Pick<SessionStore, 'readEvents'>) {
  const cache = new LRUCache<string, Chunk>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  });
  const share = createCoalescer<Chunk | null>();
  const query = async ({ sessionId, index, untilIndex, token }: ChunkRange, key: string) => {
    const events = await readEvents(sessionId, index);
    const wanted = events.filter((event) => event.index < untilIndex);
    if (wanted.length === 0) return null;
    const chunk = toChunk(wanted, token);
    cache.set(key, chunk);
    return chunk;
  };
  return {
    /** Reads the events that fit into one chunk, but at least one. `null`: empty range. */
    read: async (range: ChunkRange): Promise<Chunk | null> => {
      const { sessionId, index, untilIndex, token } = range;
      const key = `${sessionId} ${index} ${untilIndex} ${token ?? ''}`;
      return cache.get(key) ?? share(key, undefined, () => query(range, key));
    },
    forget: (sessionId: string): void => {
      for (const key of cache.keys()) if (key.startsWith(`${sessionId} `)) cache.delete(key);
    },
  };
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
  const next = (events[0]?.index ?? 0) + lines.length;
  return { bytes: Buffer.from(`${lines.join('\n')}\n`), next };
}
