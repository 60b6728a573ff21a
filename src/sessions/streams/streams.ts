import type { Writable } from 'node:stream';
import type { Client } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Excess, Quotas, Reservation } from '../../lib/scheduling/quotas.ts';
import type { EventDraft } from '../events.ts';
import type { Commit, Found, SessionStore, StampEvent } from '../store/session-store.ts';
import type { SessionRecord } from '../store/state.ts';
import {
  createChunkReader,
  createReader,
  endStream,
  type Feed,
  type Sending,
  type StreamRequest,
  type StreamTimes,
  sendStream,
} from './stream-reader.ts';

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
  readonly quotas: Quotas;
  readonly stamp: StampEvent;
  /** Set in which the registry keeps the ids of the sessions with open streams. */
  readonly followed: Set<string>;
  readonly onFault: (error: unknown, doing: string) => void;
}

interface OpenFeed extends Feed {
  /** Number of streams that are open or being opened. */
  users: number;
  slots: number;
  readonly sendings: Map<Sending, Promise<void>>;
}

export type Streams = ReturnType<typeof createStreams>;

/** Creates the registry of open event streams. Call `endAll()` to end all streams. */
export function createStreams(options: StreamsOptions) {
  const { clock, store, limits, onFault } = options;
  const chunks = createChunkReader(store);
  const slots = createStreamSlots(options);
  const stop = superviseStreams(slots.feeds, options);
  const sources = { ...options, chunks, times: limits };
  const send = (sending: Sending): Promise<void> =>
    sendStream(sending, sources).catch((error) => {
      onFault(error, 'sending a stream');
      endStream(sending); // the status was already sent; the client can resume
    });
  return {
    get open() {
      return [...slots.feeds.values()].reduce((sum, feed) => sum + feed.slots, 0);
    },
    /** Opens a stream if `toRequest` throws no error. @throws its errors; Problem `overloaded` */
    openStream: async (
      sessionId: string,
      toRequest: (found: Found) => StreamRequest,
    ): Promise<Stream> => {
      // The session is followed before it is read, so that no later change is missed.
      const { feed, take, release } = slots.follow(sessionId);
      try {
        const request = toRequest(await store.find(sessionId));
        take(request.client);
        setIfLater(feed, request.record);
        const reader = createReader(request, { nowMs: clock.now(), times: limits });
        const sendTo = async (sink: Writable): Promise<void> => {
          const sending = { reader, feed, sink };
          const ended = send(sending);
          feed.sendings.set(sending, ended);
          sink.on('error', reader.wake);
          sink.once('close', reader.wake); // frees the slot at once, not at the next heartbeat
          await ended;
          feed.sendings.delete(sending);
          release();
        };
        return { record: request.record, sendTo };
      } catch (error) {
        release();
        throw error;
      }
    },
    publish: (commit: Commit): void => {
      for (const [sessionId, record] of commit) {
        if (record === undefined) chunks.forget(sessionId);
        update(slots.feeds.get(sessionId), record);
      }
    },
    /** Sets events that are not stored and end all streams of a session; `null` for none. */
    endWith: slots.setLastEvents,
    /** Ends each stream after the events stored so far. Resolves when all have ended. */
    endAll: async (): Promise<void> => {
      const sendings = [...slots.feeds.values()].flatMap((feed) => [...feed.sendings]);
      for (const [{ reader }] of sendings) {
        reader.isClosing = true;
        reader.wake();
      }
      await Promise.all(sendings.map(([, ended]) => ended));
      stop();
    },
  };
}

function setIfLater(feed: OpenFeed, record: SessionRecord): void {
  if ((feed.record?.events ?? 0) <= record.events) feed.record = record;
}

function update(feed: OpenFeed | undefined, record: SessionRecord | undefined): void {
  if (feed === undefined) return;
  feed.record = record;
  for (const { reader } of feed.sendings.keys()) reader.wake();
}

function createStreamSlots({ limits, quotas, followed }: StreamsOptions) {
  const feeds = new Map<string, OpenFeed>();
  const lastEvents = new Map<string, readonly EventDraft[]>();
  return {
    feeds,
    setLastEvents: (sessionId: string, events: readonly EventDraft[] | null): void => {
      if (events === null) lastEvents.delete(sessionId);
      else lastEvents.set(sessionId, events);
      const feed = feeds.get(sessionId);
      if (feed === undefined) return;
      feed.lastEvents = events;
      for (const { reader } of feed.sendings.keys()) reader.wake();
    },
    /**
     * Returns the shared state of the session's streams (`feed`), `take`, which reserves a stream or
     * throws Problem `overloaded`, and `release`, which the caller must call at the end.
     */
    follow: (sessionId: string) => {
      const feed: OpenFeed = feeds.get(sessionId) ?? {
        sessionId,
        record: undefined,
        lastEvents: lastEvents.get(sessionId) ?? null,
        users: 0,
        slots: 0,
        sendings: new Map(),
      };
      feeds.set(sessionId, feed);
      followed.add(sessionId);
      feed.users += 1;
      let reservation: Reservation | null = null;
      const take = (client: Client | null): void => {
        if (feed.slots >= limits.streamsPerSession) throw tooManyStreams('of this session');
        const slot = quotas.open('streams', client);
        if (!slot.take(1)) {
          throw tooManyStreams(scopes[quotas.findExcess('streams', client, 1) ?? 'total']);
        }
        feed.slots += 1;
        reservation = slot;
      };
      const release = (): void => {
        if (reservation !== null) feed.slots -= 1;
        reservation?.release();
        feed.users -= 1;
        if (feed.users > 0) return;
        feeds.delete(sessionId);
        followed.delete(sessionId);
      };
      return { feed, take, release };
    },
  };
}

const scopes: Readonly<Record<Excess, string>> = {
  address: 'from this address',
  network: 'from this network',
  share: 'from this address',
  total: 'of all sessions',
};

const tooManyStreams = (which: string): Problem =>
  new Problem('overloaded', { detail: `The maximum number of streams ${which} are open.` });

const checkIntervalMs = 1000;

function superviseStreams(
  feeds: ReadonlyMap<string, OpenFeed>,
  { clock, limits, store, onFault }: StreamsOptions,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const repeat = async (everyMs: number, look: (feed: OpenFeed) => void): Promise<void> => {
    for (;;) {
      await Promise.allSettled([clock.sleep(everyMs, signal)]);
      if (signal.aborted) return;
      for (const feed of feeds.values()) look(feed);
    }
  };
  const checkProgress = ({ sendings }: OpenFeed): void => {
    const nowMs = clock.now();
    for (const { reader, sink } of sendings.keys()) {
      const isSilent = nowMs - reader.outputMs >= limits.heartbeatMs;
      if (nowMs - reader.writingSinceMs >= limits.stallMs) sink.destroy();
      else if (isSilent || nowMs >= reader.untilMs) reader.wake();
    }
  };
  const reload = async (feed: OpenFeed): Promise<void> => {
    try {
      const found = await store.find(feed.sessionId);
      const record = found.kind === 'known' ? found.record : undefined;
      if (record?.events !== feed.record?.events) update(feed, record);
    } catch (error) {
      onFault(error, 'looking after a session');
    }
  };
  void repeat(checkIntervalMs, checkProgress);
  // Another process may delete a session in a file; a shared store announces each change itself.
  if (!store.isShared) void repeat(limits.heartbeatMs, (feed) => void reload(feed));
  return () => stopped.abort();
}
