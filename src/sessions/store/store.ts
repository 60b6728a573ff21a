import type { EventStamp } from '../events.ts';
import type { StoreBounds } from './room.ts';
import type { SessionRecord, Transition } from './state.ts';

/** The most characters of the lines of events that are read or written together, where they are several. */
export const pieceLength = 65_536;

/** An event as it is recorded: its line has no line feed, and never holds the token. */
export interface StoredEvent {
  readonly index: number;
  readonly line: string;
}

/** A part of the line of an event that is longer than `pieceLength`, without its line feed. */
export interface EventPart {
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/** What is known of a session id. */
export type Found =
  | { readonly kind: 'known'; readonly record: SessionRecord }
  | { readonly kind: 'purged' }
  | { readonly kind: 'unknown' };

/** What the reply to an accepted message is made of. */
export interface Receipt {
  readonly sessionId: string;
  readonly deliveryId: string;
  /** How many messages are ahead. */
  readonly queued: number;
}

/** A request that is carried out once, however often it comes. */
export interface Once {
  /** The keyed hash of the key and of who sent it. */
  readonly key: string;
  /** The keyed hash of the request. */
  readonly fingerprint: string;
  readonly nowMs: number;
}

/** An accepted message; `isRepeated` where the same request was accepted before. */
export interface Acceptance {
  readonly receipt: Receipt;
  readonly isRepeated: boolean;
}

/** A session that is to be started. */
export interface Start {
  readonly transition: Transition;
  readonly receipt: Receipt;
  readonly once: Once | null;
}

/** A message that is to be accepted; `decide` gives the transition or throws a Problem. */
export interface Message {
  readonly sessionId: string;
  readonly once: Once | null;
  decide(record: SessionRecord): {
    readonly transition: Transition;
    readonly receipt: Receipt;
  };
}

/** An answered turn of a session. */
export interface AnsweredTurn {
  readonly question: string;
  /** The line of its `message.completed`. */
  readonly line: string;
}

/** What was recorded of a session together. */
export interface SessionCommit {
  /** Undefined where the session was purged. */
  readonly record: SessionRecord | undefined;
  readonly events: readonly StoredEvent[];
}

/** What was recorded together, by session id. */
export type Commit = ReadonlyMap<string, SessionCommit>;

/** How a list of sessions goes on. */
export interface SessionPage {
  readonly records: readonly SessionRecord[];
  /** Hand it in to get the next page; null at the end. */
  readonly next: number | null;
}

/** A message of a session, as the operator sees it. */
export interface SessionMessage {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly text: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
}

/** Which sessions are due for a step of their life, by their times. */
export interface DueBefore {
  readonly idleMs: number;
  readonly createdMs: number;
  readonly endedMs: number;
}

/**
 * The sessions, their messages and their events. Each change is whole, and durable when its promise
 * resolves; what is read is durable. Decisions are pure functions of the record, so that an
 * implementation may make them again. What cannot be stored rejects with Problem `not_ready`.
 */
export interface SessionStore {
  /** Keeps what clients hold within bounds from now on; before that nothing is bounded. */
  bound(bounds: StoreBounds): void;
  find(id: string): Promise<Found>;
  /**
   * Starts a session. If a bound is reached, other sessions are evicted; see "What is bounded" in
   * `docs/sessions.md`.
   *
   * @throws Problem `overloaded` if none can be evicted; `turn_queue_full`, `idempotency_conflict`
   */
  start(start: Start): Promise<Acceptance>;
  /**
   * Adds a message; `undefined` if the session is not known any more.
   *
   * @throws what `decide` throws; Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  accept(message: Message): Promise<Acceptance | undefined>;
  /** Gives the receipt of the same request, where it was accepted before. @throws Problem `idempotency_conflict` */
  recall(once: Once): Promise<Receipt | undefined>;
  /**
   * Gives the new record; undefined where the session is not known, or `decide` changes nothing. What is
   * to be recorded `soon` may wait a little for more; default: `now`.
   */
  change(
    id: string,
    decide: (record: SessionRecord) => Transition | null,
    urgency?: 'now' | 'soon',
  ): Promise<SessionRecord | undefined>;
  /** Reads events from an index, at least one if there is one, and not many more than `pieceLength`. */
  readEvents(id: string, from: number): Promise<readonly StoredEvent[]>;
  /** Returns a part of an event that is longer than `pieceLength` bytes, from a byte on; else `undefined`. */
  readPart(
    id: string,
    from: { readonly index: number; readonly offset: number },
  ): Promise<EventPart | undefined>;
  /** Gives the text of a message; undefined where it is not there. */
  readText(id: string, sequence: number): Promise<string | undefined>;
  readMessages(id: string): Promise<readonly SessionMessage[]>;
  /** Gives the last answered turns before one, oldest first. */
  readAnswered(
    id: string,
    { before, count }: { readonly before: number; readonly count: number },
  ): Promise<readonly AnsweredTurn[]>;
  /** All sessions, in the order of their start; 100 in a page. */
  list(after: number): Promise<SessionPage>;
  /** The running ones alone. */
  listRunning(after: number): Promise<SessionPage>;
  /** Ids of sessions that are idle or old, waiting, a hundred at most. */
  listExpired(before: DueBefore): Promise<readonly string[]>;
  /** Ids of sessions that ended long enough ago, a hundred at most. */
  listStale(before: DueBefore): Promise<readonly string[]>;
  /** Deletes all of a session but its id and the date. Whether it was there. */
  purge(id: string, nowMs: number): Promise<boolean>;
  /** Forgets purged ids and idempotency keys from before these instants. */
  forget(before: { readonly purgedMs: number; readonly onceMs: number }): Promise<void>;
  /** Deletes sessions while too many bytes are stored, up to 256 at a time. Returns how many. */
  trim(): Promise<number>;
  countLive(): Promise<number>;
  /** Is told of everything that was recorded, in order, once it is durable. One listener. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Records what is under way, and closes. */
  close(): void;
}

/** Gives an event what recording adds to it; the argument is its index. */
export type StampEvent = (index: number) => EventStamp;
