import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { LeaseRecord } from '../events.ts';
import { isLive, type SessionRecord } from '../store/state.ts';
import type { SessionStore } from '../store/store.ts';
import { type Piece, toPiece } from '../turns/pieces.ts';
import type { Feed, FeedReader } from './feeds.ts';

/** Where the bytes of a stream go. */
export interface StreamSink {
  /** Resolves when the bytes are flushed, or the reader is gone; never rejects. */
  write(bytes: Buffer): Promise<void>;
  /** Whether nobody reads any more. */
  readonly isGone: boolean;
  /** Calls back once nobody reads any more. */
  whenGone(callback: () => void): void;
  /** Ends the response. */
  end(): void;
  /** Cuts the connection. */
  cut(): void;
}

/** How long a stream stays open. */
export type FollowMode = 'automatic' | 'once' | 'follow' | 'lease';

/** What a reader asks for. */
export interface StreamRequest {
  readonly sessionId: string;
  /** As in the query: from the end where it is negative. */
  readonly startIndex: number;
  readonly mode: FollowMode;
  /** The token that is filled in; null for a reader who has not shown it. */
  readonly token: string | null;
  /** The reader; `null` for the command line. */
  readonly client: Client | null;
}

/** The times of a stream, in milliseconds. */
export interface StreamTimes {
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly followMs: number;
  readonly stallMs: number;
}

/** A reader of a stream, and where it is. */
export interface Reader extends FeedReader {
  cursor: number;
  /** How many bytes of the event at the cursor were sent: a long one is sent in parts. */
  offset: number;
  /** The index at which it ends; infinite where its mode does not say. */
  readonly untilIndex: number;
  /** When it ends at the latest. */
  readonly untilMs: number;
  readonly mode: FollowMode;
  readonly token: string | null;
  /** When its last bytes were flushed. */
  outputMs: number;
  /** Since when bytes are under way; null while none are. */
  writingSinceMs: number | null;
  /** Ends as soon as it has what is recorded. */
  isClosing: boolean;
  /** Resolves at the next `wake`, at once where there was one since the last. */
  wait(): Promise<void>;
}

/** Creates the reader of a request; it stands at the beginning until it is placed. */
export function createReader(
  { mode, token, startIndex }: StreamRequest,
  record: SessionRecord,
  { nowMs, times }: { readonly nowMs: number; readonly times: StreamTimes },
): Reader {
  const { events } = record;
  let isWoken = false;
  let resume: (() => void) | null = null;
  const lasting = { lease: times.leaseMs, follow: times.followMs };
  return {
    cursor: startIndex < 0 ? Math.max(0, events + startIndex) : Math.min(startIndex, events),
    offset: 0,
    untilIndex: mode === 'once' ? events : Number.POSITIVE_INFINITY,
    untilMs:
      mode === 'lease' || mode === 'follow' ? nowMs + lasting[mode] : Number.POSITIVE_INFINITY,
    mode,
    token,
    outputMs: nowMs,
    writingSinceMs: null,
    isClosing: false,
    wake: () => {
      isWoken = true;
      resume?.();
    },
    wait: async () => {
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

/** What sending needs. */
export interface Sending {
  readonly reader: Reader;
  readonly feed: Feed;
  readonly sink: StreamSink;
}

/** With what it is sent. */
export interface SendSetting {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly times: StreamTimes;
}

const leaseEnded = Buffer.from(
  `${JSON.stringify({ $eve: 'stream.lease-ended', version: 1 } satisfies LeaseRecord)}\n`,
);

/** Keeps a silent stream alive: white space before the next line. */
const heartbeat = Buffer.from(' ');

/** The most bytes that are written at once: a reader that takes them has made progress. */
const writeBytes = 65_536;

/**
 * Sends a stream to its end: what is recorded, then what is recorded next, as long as its mode says.
 * Rejects where the store cannot be read.
 */
export async function sendStream(sending: Sending, setting: SendSetting): Promise<void> {
  const { reader, feed, sink } = sending;
  const { clock, times } = setting;
  while (!sink.isGone) {
    const piece = await nextPiece(sending, setting.store);
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
export function endStream({ reader, sink }: Sending): void {
  if (reader.offset === 0) sink.end();
  else sink.cut();
}

/** A session that has ended has nothing to come back for. */
function isLeased({ mode }: Reader, { record }: Feed): boolean {
  return mode === 'lease' && record !== undefined && isLive(record.state);
}

async function nextPiece({ reader, feed }: Sending, store: SessionStore): Promise<Piece | null> {
  const { cursor, offset, untilIndex, token } = reader;
  const { record } = feed;
  if (record === undefined || cursor >= Math.min(record.events, untilIndex)) return null;
  const from = { index: cursor, offset };
  const piece = feed.piece(from, token) ?? (await feed.recorded(from, token));
  if (piece === null || piece.next.index <= untilIndex) return piece;
  const events = await store.readEvents(feed.sessionId, cursor);
  const wanted = events.filter(({ index }) => index < untilIndex);
  // Nothing is there any more where the session was purged in between.
  return wanted.length === 0 ? null : toPiece(wanted, token);
}

/** Tells whether a reader that has all that is recorded has come to its end. */
function isOver(reader: Reader, { record }: Feed, nowMs: number): boolean {
  if (record === undefined || !isLive(record.state)) return true;
  if (reader.isClosing || reader.cursor >= reader.untilIndex || nowMs >= reader.untilMs)
    return true;
  return reader.mode === 'automatic' && record.state === 'waiting';
}

/** One write is under way at a time, and the next one waits until it is flushed. */
async function write(bytes: Buffer, { reader, sink }: Sending, clock: Clock): Promise<void> {
  for (let from = 0; from < bytes.length && !sink.isGone; from += writeBytes) {
    reader.writingSinceMs = clock.now();
    await sink.write(bytes.subarray(from, from + writeBytes));
    reader.writingSinceMs = null;
    reader.outputMs = clock.now();
  }
}
