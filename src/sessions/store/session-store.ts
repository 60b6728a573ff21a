import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';
import type { EventStamp } from '../events.ts';
import type { SpendCharges } from '../http/rate-limit.ts';
import type { AnsweredTurn, SessionMessage, StoredEvent } from './log-rows.ts';
import type { KeyedRequest, Receipt } from './session-rows.ts';
import type { SessionRecord, Transition } from './state.ts';

export type Found =
  | { readonly kind: 'known'; readonly record: SessionRecord }
  | { readonly kind: 'purged' }
  | { readonly kind: 'unknown' };

/** Accepted message. `transition`: change of the session. `receipt`: result of the request that sent the message. */
export type Acceptance = Readonly<{ transition: Transition; receipt: Receipt }>;

/** Sessions changed by one commit, keyed by id. The value is `undefined` for a deleted session. */
export type Commit = ReadonlyMap<string, SessionRecord | undefined>;

/** Function that returns the metadata of a new event: its id, its time and its index in the session. */
export type StampEvent = (index: number) => EventStamp;

/**
 * Function that returns the change to make to a session, or `null` for no change. The store may call it again if
 * another change of the session was stored first.
 */
export type Decide = (record: SessionRecord) => Transition | null;

/**
 * One part of a long stored event, which is sent in several parts. `isLast`: whether this is the last part of the
 * event.
 */
export type LinePart = Readonly<{ bytes: Buffer; isLast: boolean }>;

/**
 * Limits of the store (`ledger`), and the sessions that have open event streams. A session with an open event stream is
 * evicted only to make space for its own client.
 */
export interface StoreBounds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Returns whether the session `id` has an open event stream in this process. */
  isRead(id: string): boolean;
  /** Returns the ids of the sessions with open event streams in this process. */
  readIds(): readonly string[];
}

/** Store of sessions. Promises reject with Problem `not_ready` if the store cannot be used. */
export interface SessionStore {
  /**
   * Whether several server instances share the store. If so, the messages of a session are answered
   * by only one instance at a time.
   */
  readonly isShared: boolean;
  /**
   * Applies the rate limits of callers across all server instances that share the store. Absent if the store is not
   * shared.
   */
  readonly spendRates?: SpendCharges;
  find(id: string): Promise<Found>;
  /**
   * Returns the stored result of an earlier request with the same idempotency key; `undefined` if
   * there is none. @throws Problem `idempotency_conflict` if the earlier request was different
   */
  recall(request: KeyedRequest | null): Promise<Receipt | undefined>;
  /**
   * Reads a batch of events from index `from` on. The total length of the batch is at most `chunkLength` (in characters
   * or bytes, depending on the store), unless its first event is longer. Returns an empty list if there is no event at
   * `from`.
   */
  readEvents(id: string, from: number): Promise<readonly StoredEvent[]>;
  /**
   * Reads a part of a long event: up to `chunkLength` bytes, starting at byte `offset`. Returns `undefined` if the
   * event has at most `chunkLength` bytes; read a short event with `readEvents`.
   */
  readPart(id: string, at: Record<'index' | 'offset', number>): Promise<LinePart | undefined>;
  readText(id: string, sequence: number): Promise<string | undefined>;
  readMessages(id: string): Promise<readonly SessionMessage[]>;
  /** Reads the last `count` answered questions before the message number `before`, oldest first. */
  readAnswered(
    id: string,
    range: Record<'before' | 'count', number>,
  ): Promise<readonly AnsweredTurn[]>;
  /** Yields sessions in batches: all sessions in order of their start, or the running sessions in any order. */
  list(which: 'all' | 'running'): AsyncGenerator<readonly SessionRecord[]>;
  /**
   * Returns the ids of up to 100 sessions in the state `waiting` (without an unanswered message). Selects sessions
   * that were last active before `idleMs` or created before `createdMs` (both in Unix milliseconds).
   */
  listExpired(before: Record<'idleMs' | 'createdMs', number>): Promise<readonly string[]>;
  /** Returns the ids of up to 100 sessions that ended before `endedMs` (Unix milliseconds). */
  listStale(endedMs: number): Promise<readonly string[]>;
  /** Writes a value that changes nothing. Rejects with Problem `not_ready` if the store cannot be written. */
  probe(): Promise<void>;
  countLive(): Promise<number>;
  /** Returns the estimated total size of all stored sessions in bytes. */
  countStored(): Promise<number>;
  setBounds(bounds: StoreBounds): void;
  /** Returns whether the storage limits allow a new answer for a client. */
  hasRoom(client: Client | null): Promise<boolean>;
  /** Returns whether this server instance runs a session, that is, answers its messages. */
  runs(id: string): boolean;
  /**
   * Starts a session and returns the receipt for its first message. If an earlier request had the same idempotency key,
   * starts no session and returns the receipt of that request. Evicts other sessions to enforce limits
   * (`docs/sessions.md`). @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  start(acceptance: Acceptance, request: KeyedRequest | null): Promise<Receipt>;
  /**
   * Adds a message to a session and returns the receipt for the message. If an earlier request had the same idempotency
   * key, adds nothing and returns the receipt of that request. Returns `undefined` for an unknown or deleted session.
   * `decide` returns the change that adds the message, or throws an error to reject the message. @throws the errors of
   * `decide`; Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  accept(
    id: string,
    request: KeyedRequest | null,
    decide: (record: SessionRecord) => Acceptance,
  ): Promise<Receipt | undefined>;
  /**
   * Applies the change that `decide` returns, and returns the changed session. Returns `undefined` if the session
   * does not exist or `decide` returns `null`. `urgency`: with `soon`, the store may delay the write to combine it
   * with others.
   */
  change(id: string, decide: Decide, urgency?: 'now' | 'soon'): Promise<SessionRecord | undefined>;
  /**
   * Changes a session like `change`, but only if this server instance answers the session's messages. Otherwise
   * returns `undefined`.
   */
  changeOwn(
    id: string,
    decide: Decide,
    urgency?: 'now' | 'soon',
  ): Promise<SessionRecord | undefined>;
  /**
   * Deletes the data of a session. Keeps the session's id and the deletion time `nowMs`. Returns
   * whether the session existed.
   */
  purge(id: string, nowMs: number): Promise<boolean>;
  /**
   * Deletes the ids of sessions that `purge` deleted before `purgedMs`, and the idempotency keys stored before
   * `idempotencyMs` (both in Unix milliseconds).
   */
  forget(before: Record<'purgedMs' | 'idempotencyMs', number>): Promise<void>;
  /**
   * Deletes up to 256 sessions while all sessions together exceed the limit of stored bytes.
   * Returns the number of deleted sessions.
   */
  trim(): Promise<number>;
  /**
   * Sets the listener for changes of sessions, and replaces the previous listener. The store calls it once for each
   * durable commit, in the order of the commits.
   */
  onCommit(listener: (commit: Commit) => void): void;
  /**
   * Sets the listener for sessions that this server instance takes over from a failed instance.
   * Absent if the store is not shared.
   */
  onTakeOver?(listener: (record: SessionRecord) => void): void;
  close(): void | Promise<void>;
}
