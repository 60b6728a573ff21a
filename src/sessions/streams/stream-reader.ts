import type { Writable } from 'node:stream';
import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { LeaseRecord } from '../events.ts';
import { isLive, type SessionRecord } from '../store/state.ts';
import type { createPieces } from './pieces.ts';

export type FollowMode = 'automatic' | 'once' | 'follow' | 'lease';

export interface StreamRequest {
  readonly sessionId: string;
  /** Counts from the end if it is negative. */
  readonly startIndex: number;
  readonly mode: FollowMode;
  /** The token that is filled in; null for a reader who has not shown it. */
  readonly token: string | null;
  /** The reader; `null` for the command line. */
  readonly client: Client | null;
}

type Times = 'heartbeatMs' | 'leaseMs' | 'followMs' | 'stallMs';

export type StreamTimes = Readonly<Record<Times, number>>;

/** A session that is being read. */
export interface Feed {
  readonly sessionId: string;
  /** Its record as of the last commit; undefined until it is known, and again once the session is purged. */
  record: SessionRecord | undefined;
}

export type Reader = ReturnType<typeof createReader>;

/** Creates the reader of a request, whose record is known. */
export function createReader(
  { mode, token, startIndex }: StreamRequest,
  events: number,
  { nowMs, times }: { readonly nowMs: number; readonly times: StreamTimes },
) {
  let isWoken = false;
  let resume: (() => void) | null = null;
  const endless = Number.POSITIVE_INFINITY;
  const { leaseMs: lease, followMs: follow } = times;
  const lastingMs = { lease, follow, automatic: endless, once: endless };
  return {
    mode,
    token,
    cursor: startIndex < 0 ? Math.max(0, events + startIndex) : Math.min(startIndex, events),
    /** Number of bytes of the event at the cursor that were sent: a long one is sent in parts. */
    offset: 0,
    /** The index at which it ends. */
    untilIndex: mode === 'once' ? events : endless,
    untilMs: nowMs + lastingMs[mode],
    outputMs: nowMs,
    /** Since when bytes are under way; infinite while none are. */
    writingSinceMs: endless,
    /** Ends as soon as it has what is recorded. */
    isClosing: false,
    wake: (): void => {
      isWoken = true;
      resume?.();
    },
    /** Resolves at the next `wake`, at once where there was one since the last. */
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

/** A reader of a feed, and where its bytes go. */
export type Sending = Readonly<{ reader: Reader; feed: Feed; sink: Writable }>;

interface SendSetting {
  readonly pieces: ReturnType<typeof createPieces>;
  readonly clock: Clock;
  readonly times: StreamTimes;
}

const leaseRecord: LeaseRecord = { $eve: 'stream.lease-ended', version: 1 };
const leaseEnded = Buffer.from(`${JSON.stringify(leaseRecord)}\n`);
/** Keeps a silent stream alive: white space before the next line. */
const heartbeat = Buffer.from(' ');
/** Maximum number of bytes that are written at once: a reader that takes them has made progress. */
const writeBytes = 65_536;

/** Sends what is recorded, then what is recorded next, as long as the mode says. Rejects if the store cannot be read. */
export async function sendStream(sending: Sending, setting: SendSetting): Promise<void> {
  const { reader, feed, sink } = sending;
  const { clock, times, pieces } = setting;
  while (!sink.destroyed) {
    const place = toPlace(reader, feed);
    const piece = place && (await pieces.read(place));
    if (piece !== null) {
      await write(piece.bytes, sending, clock);
      reader.cursor = piece.next.index;
      reader.offset = piece.next.offset;
    } else if (isOver(reader, feed, clock.now())) {
      break;
    } else if (clock.now() - reader.outputMs >= times.heartbeatMs) {
      await write(heartbeat, sending, clock);
    } else {
      await reader.wait();
    }
  }
  if (isLeased(reader, feed)) await write(leaseEnded, sending, clock);
  endStream(sending);
}

/** Ends a stream. One that is within a line is cut off, so that nobody takes a part for the whole. */
export function endStream({ reader, sink }: Omit<Sending, 'feed'>): void {
  if (reader.offset === 0) sink.end();
  else sink.destroy();
}

/** A session that has ended has nothing to come back for. */
function isLeased({ mode }: Reader, { record }: Feed): boolean {
  return mode === 'lease' && record !== undefined && isLive(record.state);
}

/** Returns where the next piece is; null if the reader has all that it is to have yet. */
function toPlace({ cursor, offset, token, ...reader }: Reader, { sessionId, record }: Feed) {
  const untilIndex = Math.min(record?.events ?? 0, reader.untilIndex);
  if (cursor >= untilIndex) return null;
  return { sessionId, from: { index: cursor, offset }, untilIndex, token };
}

/** Returns whether a reader that has all that is recorded has come to its end. */
function isOver(reader: Reader, { record }: Feed, nowMs: number): boolean {
  if (record === undefined || !isLive(record.state) || reader.isClosing) return true;
  if (reader.cursor >= reader.untilIndex || nowMs >= reader.untilMs) return true;
  return reader.mode === 'automatic' && record.state === 'waiting';
}

/** One write is under way at a time, and the next one waits until it is flushed. */
async function write(bytes: Buffer, { reader, sink }: Sending, clock: Clock): Promise<void> {
  for (let from = 0; from < bytes.length && !sink.destroyed; from += writeBytes) {
    reader.writingSinceMs = clock.now();
    await flush(bytes.subarray(from, from + writeBytes), sink);
    reader.writingSinceMs = Number.POSITIVE_INFINITY;
    reader.outputMs = clock.now();
  }
}

/** Resolves when the bytes are flushed, or the reader is gone. */
function flush(bytes: Buffer, sink: Writable): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      sink.off('close', goOn);
      resolve();
    };
    sink.once('close', goOn);
    sink.write(bytes, goOn);
  });
}
