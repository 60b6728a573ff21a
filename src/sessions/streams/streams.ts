import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Excess, Hold, Ledger } from '../../core/scheduling/ledger.ts';
import type { SessionRecord } from '../store/state.ts';
import type { SessionStore } from '../store/store.ts';
import type { Feed, Feeds } from './feeds.ts';
import {
  createReader,
  endStream,
  type Reader,
  type Sending,
  type StreamRequest,
  type StreamSink,
  type StreamTimes,
  sendStream,
} from './stream-reader.ts';

/** A stream that is open. */
export interface Stream {
  /** What was recorded when it opened. */
  readonly record: SessionRecord;
  /** Writes until its end. Call it once, at once. */
  sendTo(sink: StreamSink): Promise<void>;
}

/** All streams. */
export interface Streams {
  readonly open: number;
  /** Returns whether a session is being read. */
  isRead(sessionId: string): boolean;
  /** Undefined where the session is not known any more. @throws Problem `overloaded` */
  openStream(request: StreamRequest): Promise<Stream | undefined>;
  /** Ends all streams as soon as they have what is recorded; resolves when they are ended. */
  endAll(): Promise<void>;
}

/** The limits of streams. */
export interface StreamLimits extends StreamTimes {
  readonly streamsPerSession: number;
}

/** What streams need. */
export interface StreamsOptions {
  readonly store: SessionStore;
  readonly feeds: Feeds;
  readonly clock: Clock;
  readonly limits: StreamLimits;
  /** Bounds the streams of each client, and of all. */
  readonly ledger: Ledger;
  /** Is told why a stream ended too soon. */
  readonly onFault: (error: unknown, doing: string) => void;
}

/** A stream that is being sent. */
interface Sent extends Sending {
  readonly ended: Promise<void>;
}

/** Creates the streams. */
export function createStreams(options: StreamsOptions): Streams {
  const { feeds, clock, store, limits, onFault } = options;
  const sent = new Set<Sent>();
  const places = createPlaces(options);
  const pulse = createPulse(options, sent);
  const carryOut = async (sending: Sending): Promise<void> => {
    try {
      await sendStream(sending, { store, clock, times: limits });
    } catch (error) {
      // The status is sent already: the response just ends, and the reader resumes by index.
      onFault(error, 'sending a stream');
      endStream(sending);
    }
  };
  return {
    get open() {
      return places.taken;
    },
    isRead: places.isTaken,
    openStream: async (request) => {
      const place = places.take(request);
      const found = await store.find(request.sessionId).catch(place.giveBackAndThrow);
      if (found.kind !== 'known') {
        place.giveBack();
        return undefined;
      }
      const { record } = found;
      const reader = createReader(request, record, { nowMs: clock.now(), times: limits });
      const feed = feeds.join(request.sessionId, reader);
      feed.record = record;
      return {
        record,
        sendTo: async (sink) => {
          const sending = { reader, feed, sink };
          const ended = carryOut(sending);
          const entry = { ...sending, ended };
          sent.add(entry);
          // Its place is free at once, not at the next heartbeat.
          sink.whenGone(reader.wake);
          pulse.start();
          await ended;
          sent.delete(entry);
          pulse.stopIfIdle();
          feeds.leave(feed, reader);
          place.giveBack();
        },
      };
    },
    endAll: async () => {
      for (const { reader } of sent) {
        reader.isClosing = true;
        reader.wake();
      }
      await Promise.all([...sent].map(({ ended }) => ended));
    },
  };
}

/** Counts the streams of each session here, and those of each client in the ledger. */
function createPlaces({ limits, ledger }: StreamsOptions) {
  const bySession = new Map<string, number>();
  let taken = 0;
  const release = (sessionId: string, hold: Hold): void => {
    hold.release();
    taken -= 1;
    const left = (bySession.get(sessionId) ?? 1) - 1;
    if (left === 0) bySession.delete(sessionId);
    else bySession.set(sessionId, left);
  };
  return {
    get taken() {
      return taken;
    },
    isTaken: (sessionId: string) => bySession.has(sessionId),
    take: ({ sessionId, client }: Pick<StreamRequest, 'sessionId' | 'client'>) => {
      const own = bySession.get(sessionId) ?? 0;
      if (own >= limits.streamsPerSession) throw tooManyStreams('of this session');
      const excess = ledger.findExcess('streams', client, 1);
      if (excess !== null) throw tooManyStreams(whose[excess]);
      const hold = ledger.open('streams', client);
      hold.take(1);
      bySession.set(sessionId, own + 1);
      taken += 1;
      const giveBack = () => release(sessionId, hold);
      return {
        giveBack,
        giveBackAndThrow: (error: unknown): never => {
          giveBack();
          throw error;
        },
      };
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
  return new Problem('overloaded', {
    detail: `As many streams ${which} are open as may be.`,
  });
}

/** How often streams are looked after. */
const pulseMs = 1000;

/**
 * Looks after all streams while there are any, once a second: wakes those that are silent or at their
 * time, cuts those that make no progress, and lets the memory of their events go.
 */
function createPulse(
  { clock, feeds, limits, store, onFault }: StreamsOptions,
  sent: ReadonlySet<Sent>,
) {
  let beating: AbortController | null = null;
  let refreshedMs = clock.now();
  const refresh = async (feed: Feed): Promise<void> => {
    const found = await store.find(feed.sessionId);
    feed.record = found.kind === 'known' ? found.record : undefined;
    for (const reader of feed.readers) reader.wake();
  };
  /** Another process can remove a session; nobody tells this one. */
  const refreshAll = (nowMs: number): void => {
    if (nowMs - refreshedMs < limits.heartbeatMs) return;
    refreshedMs = nowMs;
    for (const feed of feeds.all()) {
      refresh(feed).catch((error) => onFault(error, 'looking after a session'));
    }
  };
  const lookAfter = ({ reader, sink }: Sent, nowMs: number): void => {
    if (isStalled(reader, nowMs, limits)) sink.cut();
    else if (isDue(reader, nowMs, limits)) reader.wake();
  };
  const beat = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(pulseMs, signal);
      const nowMs = clock.now();
      for (const one of sent) lookAfter(one, nowMs);
      feeds.trim();
      refreshAll(nowMs);
    }
  };
  return {
    start: (): void => {
      if (beating !== null) return;
      beating = new AbortController();
      beat(beating).catch(() => undefined); // stopped
    },
    /** Call it when a stream has ended. */
    stopIfIdle: (): void => {
      if (sent.size > 0) return;
      beating?.abort();
      beating = null;
    },
  };
}

function isDue(reader: Reader, nowMs: number, { heartbeatMs }: StreamLimits): boolean {
  return nowMs - reader.outputMs >= heartbeatMs || nowMs >= reader.untilMs;
}

function isStalled(reader: Reader, nowMs: number, { stallMs }: StreamLimits): boolean {
  return reader.writingSinceMs !== null && nowMs - reader.writingSinceMs >= stallMs;
}
