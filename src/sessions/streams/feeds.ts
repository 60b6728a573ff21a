import type { SessionRecord } from '../store/state.ts';
import { type Commit, pieceLength, type SessionCommit, type StoredEvent } from '../store/store.ts';
import {
  createRecordedPieces,
  type EventSource,
  type Piece,
  type Position,
  type RecordedPieces,
  toPiece,
  toPieceKey,
} from '../turns/pieces.ts';

/** One who waits for the events of a session. */
export interface FeedReader {
  /** The index of the event that it takes next. */
  readonly cursor: number;
  wake(): void;
}

/** The newest events of a session, in memory while somebody reads it: all its readers share them. */
export interface Feed {
  readonly sessionId: string;
  /** What is recorded; undefined until it is set, and again once the session is purged. */
  record: SessionRecord | undefined;
  readonly readers: Set<FeedReader>;
  /**
   * Returns the events from a position as bytes, with the token if it is given; `null` if they are not
   * in memory. An event that is longer than a piece never is, because it is read in parts.
   */
  piece(from: Position, token: string | null): Piece | null;
  /** Returns the same from the store, `null` if nothing is there: readers at the same place share one look. */
  recorded(from: Position, token: string | null): Promise<Piece | null>;
}

/** The feeds of all sessions that are read. */
export interface Feeds {
  /** Adds a reader to the feed of a session. */
  join(sessionId: string, reader: FeedReader): Feed;
  /** Takes a reader out; a feed that nobody reads is forgotten. */
  leave(feed: Feed, reader: FeedReader): void;
  /** Hands what was recorded to those who read it. */
  publish(commit: Commit): void;
  /** Lets go of what every reader has. */
  trim(): void;
  all(): Iterable<Feed>;
}

/** What is kept of one session at most, and of all together, in characters of lines. */
const feedLength = 262_144;
const allLength = 33_554_432;

interface OpenFeed extends Feed {
  take(commit: SessionCommit): void;
  trim(): void;
  drop(): void;
}

/** Counts what all feeds hold. */
interface Memory {
  held: number;
}

/** Creates an empty set of feeds. */
export function createFeeds(source: EventSource): Feeds {
  const memory: Memory = { held: 0 };
  const recorded = createRecordedPieces(source);
  const feeds = new Map<string, OpenFeed>();
  return {
    join: (sessionId, reader) => {
      const feed = feeds.get(sessionId) ?? createFeed(sessionId, { memory, recorded });
      feeds.set(sessionId, feed);
      feed.readers.add(reader);
      return feed;
    },
    leave: (feed, reader) => {
      feed.readers.delete(reader);
      if (feed.readers.size > 0) return;
      feeds.get(feed.sessionId)?.drop();
      feeds.delete(feed.sessionId);
    },
    publish: (commit) => {
      for (const [sessionId, changed] of commit) {
        if (changed.record === undefined) recorded.forget(sessionId);
        feeds.get(sessionId)?.take(changed);
      }
    },
    trim: () => {
      for (const feed of feeds.values()) feed.trim();
    },
    all: () => feeds.values(),
  };
}

interface Shared {
  readonly memory: Memory;
  readonly recorded: RecordedPieces;
}

function createFeed(sessionId: string, { memory, recorded }: Shared): OpenFeed {
  const readers = new Set<FeedReader>();
  const tail = createTail(memory);
  return {
    sessionId,
    record: undefined,
    readers,
    piece: tail.piece,
    recorded: (from, token) => recorded.piece({ sessionId, from, token }),
    take({ record, events }) {
      this.record = record;
      tail.add(events);
      for (const reader of readers) reader.wake();
    },
    trim: () => tail.dropBefore(Math.min(...[...readers].map(({ cursor }) => cursor))),
    drop: () => tail.dropBefore(Number.POSITIVE_INFINITY),
  };
}

/** The last events of a session without a gap, as many as there is room for. */
function createTail(memory: Memory) {
  let events: StoredEvent[] = [];
  let held = 0;
  /** The pieces that were made since the last change: readers at the same place get the same bytes. */
  const made = new Map<string, Piece>();

  const dropFirst = (count: number): void => {
    const dropped = events.slice(0, count).reduce((sum, { line }) => sum + line.length, 0);
    events = events.slice(count);
    held -= dropped;
    memory.held -= dropped;
    made.clear();
  };
  return {
    add: (recorded: readonly StoredEvent[]): void => {
      const long = recorded.findLastIndex(({ line }) => line.length > pieceLength);
      if (long !== -1) dropFirst(events.length);
      const added = recorded.slice(long + 1);
      const length = added.reduce((sum, { line }) => sum + line.length, 0);
      events.push(...added);
      held += length;
      memory.held += length;
      made.clear();
      let over = 0;
      for (let left = held; left > feedLength && over < events.length; over += 1) {
        left -= events[over]?.line.length ?? 0;
      }
      // Whoever needs what is let go reads it from the store.
      if (memory.held > allLength) over = events.length;
      if (over > 0) dropFirst(over);
    },
    dropBefore: (index: number): void => {
      const kept = events.findIndex((event) => event.index >= index);
      const count = kept === -1 ? events.length : kept;
      if (count > 0) dropFirst(count);
    },
    piece: (from: Position, token: string | null): Piece | null => {
      const first = events[0]?.index ?? Number.POSITIVE_INFINITY;
      const last = events.at(-1)?.index ?? -1;
      if (from.index < first || from.index > last) return null;
      const key = toPieceKey({ from, token });
      const piece = made.get(key) ?? toPiece(events.slice(from.index - first), token);
      made.set(key, piece);
      return piece;
    },
  };
}
