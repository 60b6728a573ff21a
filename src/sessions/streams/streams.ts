import type { Writable } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Excess, Quotas } from '../../lib/scheduling/quotas.ts';
import type { EventDraft } from '../events.ts';
import type { Commit, SessionStore, StampEvent } from '../store/session-store.ts';
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
  slots: number;
  readonly sendings: Map<Sending, Promise<void>>;
}

export type Streams = ReturnType<typeof createStreams>;

/** Creates the registry of open event streams. Call `endAll()` to end all streams. */
export function createStreams(options: StreamsOptions) {
  const { clock, store, limits, stamp, onFault } = options;
  const chunks = createChunkReader(store);
  const slots = createStreamSlots(options);
  const stopped = new AbortController();
  superviseStreams(slots.feeds, options, stopped.signal);
  const send = (sending: Sending): Promise<void> =>
    sendStream(sending, { chunks, clock, times: limits, stamp }).catch((error) => {
      // The status was already sent, so the response just ends. The client can resume.
      onFault(error, 'sending a stream');
      endStream(sending);
    });
  return {
    get open() {
      return [...slots.feeds.values()].reduce((sum, feed) => sum + feed.slots, 0);
    },
    /** Returns `undefined` for an unknown or deleted session. @throws Problem `overloaded` */
    openStream: async (request: StreamRequest): Promise<Stream | undefined> => {
      const { feed, release } = slots.take(request);
      const found = await store.find(request.sessionId).catch((error) => {
        release();
        throw error;
      });
      if (found.kind !== 'known') {
        release();
        return undefined;
      }
      const { record } = found;
      setIfLater(feed, record);
      const reader = createReader(request, record.events, { nowMs: clock.now(), times: limits });
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
      return { record, sendTo };
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
      stopped.abort();
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
     * Reserves a stream. Returns the shared state of the session's streams (`feed`), and `release`,
     * which the caller must call at the end.
     * @throws Problem `overloaded` if the session, the client or the server has the maximum number
     */
    take: ({ sessionId, client }: StreamRequest) => {
      const newFeed: OpenFeed = {
        sessionId,
        record: undefined,
        lastEvents: lastEvents.get(sessionId) ?? null,
        slots: 0,
        sendings: new Map(),
      };
      const feed = feeds.get(sessionId) ?? newFeed;
      if (feed.slots >= limits.streamsPerSession) throw tooManyStreams('of this session');
      const reservation = quotas.open('streams', client);
      if (!reservation.take(1)) {
        throw tooManyStreams(scopes[quotas.findExcess('streams', client, 1) ?? 'total']);
      }
      feeds.set(sessionId, feed);
      followed.add(sessionId);
      feed.slots += 1;
      const release = (): void => {
        reservation.release();
        feed.slots -= 1;
        if (feed.slots > 0) return;
        feeds.delete(sessionId);
        followed.delete(sessionId);
      };
      return { feed, release };
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
  signal: AbortSignal,
): void {
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
}
