import type { Writable } from 'node:stream';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Excess, Ledger } from '../../core/scheduling/ledger.ts';
import type { Commit, SessionStore } from '../store/sqlite-store.ts';
import type { SessionRecord } from '../store/state.ts';
import { createPieces } from './pieces.ts';
import {
  createReader,
  endStream,
  type Feed,
  type Sending,
  type StreamRequest,
  type StreamTimes,
  sendStream,
} from './stream-reader.ts';

/** A stream, and its session as it was when it opened. Call `sendTo` once, at once; it resolves at the end. */
interface Stream {
  readonly record: SessionRecord;
  sendTo(sink: Writable): Promise<void>;
}

export interface StreamLimits extends StreamTimes {
  readonly streamsPerSession: number;
}

interface StreamsOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: StreamLimits;
  /** Bounds the streams of each client, and of all. */
  readonly ledger: Ledger;
  readonly onFault: (error: unknown, doing: string) => void;
}

interface OpenFeed extends Feed {
  places: number;
  readonly sendings: Map<Sending, Promise<void>>;
}

export type Streams = ReturnType<typeof createStreams>;

/** Creates the streams. End them with `endAll()`. */
export function createStreams(options: StreamsOptions) {
  const { clock, store, limits, onFault } = options;
  const pieces = createPieces(store);
  const places = createPlaces(options);
  const stopped = new AbortController();
  lookAfter(places.feeds, options, stopped.signal);
  const send = (sending: Sending): Promise<void> =>
    sendStream(sending, { pieces, clock, times: limits }).catch((error) => {
      // The status is sent already: the response just ends, and the reader resumes by index.
      onFault(error, 'sending a stream');
      endStream(sending);
    });
  return {
    get open() {
      return [...places.feeds.values()].reduce((sum, feed) => sum + feed.places, 0);
    },
    isRead: (sessionId: string) => places.feeds.has(sessionId),
    /** Returns `undefined` if the session is not known any more. @throws Problem `overloaded` */
    openStream: async (request: StreamRequest): Promise<Stream | undefined> => {
      const { feed, release } = places.take(request);
      const found = await store.find(request.sessionId).catch((error) => {
        release();
        throw error;
      });
      if (found.kind !== 'known') {
        release();
        return undefined;
      }
      const { record } = found;
      feed.record = record;
      const reader = createReader(request, record.events, { nowMs: clock.now(), times: limits });
      const sendTo = async (sink: Writable): Promise<void> => {
        const sending = { reader, feed, sink };
        const ended = send(sending);
        feed.sendings.set(sending, ended);
        sink.on('error', reader.wake);
        sink.once('close', reader.wake); // its place is free at once, not at the next heartbeat
        await ended;
        feed.sendings.delete(sending);
        release();
      };
      return { record, sendTo };
    },
    publish: (commit: Commit): void => {
      for (const [sessionId, record] of commit) {
        if (record === undefined) pieces.forget(sessionId);
        const feed = places.feeds.get(sessionId);
        if (feed !== undefined) update(feed, record);
      }
    },
    /** Ends all streams as soon as they have what is recorded; resolves when they are ended. */
    endAll: async (): Promise<void> => {
      const sendings = [...places.feeds.values()].flatMap((feed) => [...feed.sendings]);
      for (const [{ reader }] of sendings) {
        reader.isClosing = true;
        reader.wake();
      }
      await Promise.all(sendings.map(([, ended]) => ended));
      stopped.abort();
    },
  };
}

function update(feed: OpenFeed, record: SessionRecord | undefined): void {
  feed.record = record;
  for (const { reader } of feed.sendings.keys()) reader.wake();
}

/** Counts the streams of each session here, and those of each client in the ledger. */
function createPlaces({ limits, ledger }: StreamsOptions) {
  const feeds = new Map<string, OpenFeed>();
  return {
    feeds,
    /** @throws Problem `overloaded` */
    take: ({ sessionId, client }: StreamRequest) => {
      const fresh: OpenFeed = { sessionId, record: undefined, places: 0, sendings: new Map() };
      const feed = feeds.get(sessionId) ?? fresh;
      if (feed.places >= limits.streamsPerSession) throw tooManyStreams('of this session');
      const excess = ledger.findExcess('streams', client, 1);
      if (excess !== null) throw tooManyStreams(whose[excess]);
      const hold = ledger.open('streams', client);
      hold.take(1);
      feeds.set(sessionId, feed);
      feed.places += 1;
      const release = (): void => {
        hold.release();
        feed.places -= 1;
        if (feed.places === 0) feeds.delete(sessionId);
      };
      return { feed, release };
    },
  };
}

const whose: Readonly<Record<Excess, string>> = {
  address: 'from this address',
  network: 'from this network',
  share: 'from this address',
  total: 'of all sessions',
};

function tooManyStreams(which: string): Problem {
  return new Problem('overloaded', { detail: `As many streams ${which} are open as may be.` });
}

const pulseMs = 1000;

/**
 * Looks after all streams until it is stopped: wakes them, because a heartbeat or their end may be due, and cuts those
 * that make no progress. Reads records again now and then, because another process can remove a session.
 */
function lookAfter(
  feeds: ReadonlyMap<string, OpenFeed>,
  { clock, limits, store, onFault }: StreamsOptions,
  signal: AbortSignal,
): void {
  const repeat = async (everyMs: number, look: (feed: OpenFeed) => void): Promise<void> => {
    for (;;) {
      await Promise.allSettled([clock.sleep(everyMs, signal)]);
      if (signal.aborted) return;
      for (const feed of feeds.values()) look(feed);
    }
  };
  const moveOn = ({ sendings }: OpenFeed): void => {
    for (const { reader, sink } of sendings.keys()) {
      if (clock.now() - reader.writingSinceMs >= limits.stallMs) sink.destroy();
      else reader.wake();
    }
  };
  const refresh = async (feed: OpenFeed): Promise<void> => {
    try {
      const found = await store.find(feed.sessionId);
      update(feed, found.kind === 'known' ? found.record : undefined);
    } catch (error) {
      onFault(error, 'looking after a session');
    }
  };
  void repeat(pulseMs, moveOn);
  void repeat(limits.heartbeatMs, (feed) => void refresh(feed));
}
