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

/** Accepted message: the change of its session, and the result of the request (`receipt`) to return to the caller. */
export type Acceptance = Readonly<{ transition: Transition; receipt: Receipt }>;

/** Sessions changed by one commit, by id; `undefined` for a session that was deleted. */
export type Commit = ReadonlyMap<string, SessionRecord | undefined>;

/** Function that returns the metadata of a new event: its id, its time and its index in the session. */
export type StampEvent = (index: number) => EventStamp;

/** Function that returns the change to make to a session, or `null` for no change. It can be called more than once. */
export type Decide = (record: SessionRecord) => Transition | null;

/** Bytes of a part of a long event line. */
export type LinePart = Readonly<{ bytes: Buffer; isLast: boolean }>;

/** Limits of the store, and the sessions with open event streams in this process. */
export interface StoreBounds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  isRead(id: string): boolean;
  readIds(): readonly string[];
}

/** Store of sessions. Promises reject with Problem `not_ready` if the store cannot be used. */
export interface SessionStore {
  /** Whether several instances share the store. If so, only the instance that runs a session answers its messages. */
  readonly isShared: boolean;
  /** Applies rate limits across all instances that share the store. Absent if the store is not shared. */
  readonly spendRates?: SpendCharges;
  find(id: string): Promise<Found>;
  /** Returns the stored result of an identical earlier request, if any. @throws Problem `idempotency_conflict` */
  recall(request: KeyedRequest | null): Promise<Receipt | undefined>;
  /** Reads events from index `from` on: at most about `chunkLength` characters, but at least one event, if any. */
  readEvents(id: string, from: number): Promise<readonly StoredEvent[]>;
  /** Reads the part at byte `offset` of an event longer than `chunkLength` bytes; `undefined` for shorter events. */
  readPart(id: string, at: Record<'index' | 'offset', number>): Promise<LinePart | undefined>;
  readText(id: string, sequence: number): Promise<string | undefined>;
  readMessages(id: string): Promise<readonly SessionMessage[]>;
  /** Reads the last `count` answered questions before the message number `before`, oldest first. */
  readAnswered(
    id: string,
    range: Record<'before' | 'count', number>,
  ): Promise<readonly AnsweredTurn[]>;
  /** Yields sessions in pages, ordered by their start. */
  list(which: 'all' | 'running'): AsyncGenerator<readonly SessionRecord[]>;
  /** Returns up to 100 ids of `waiting` sessions last active before `idleMs` or created before `createdMs`. */
  listExpired(before: Record<'idleMs' | 'createdMs', number>): Promise<readonly string[]>;
  /** Returns the ids of up to 100 sessions that ended before `endedMs`. */
  listStale(endedMs: number): Promise<readonly string[]>;
  countLive(): Promise<number>;
  /** Returns the size of all stored sessions in bytes. */
  countStored(): Promise<number>;
  setBounds(bounds: StoreBounds): void;
  /** Returns whether there is room to store further answers for a client. */
  hasRoom(client: Client | null): Promise<boolean>;
  /** Returns whether this instance answers the messages of a session. */
  runs(id: string): boolean;
  /**
   * Starts a session, or returns the stored result of an identical earlier request. Evicts other sessions to enforce
   * limits (`docs/sessions.md`). @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  start(acceptance: Acceptance, request: KeyedRequest | null): Promise<Receipt>;
  /**
   * Adds a message, or returns the stored result of an identical earlier request. Returns `undefined` for a deleted
   * session. @throws errors of the callback `decide`; Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  accept(
    id: string,
    request: KeyedRequest | null,
    decide: (record: SessionRecord) => Acceptance,
  ): Promise<Receipt | undefined>;
  /** Changes a session. Returns `undefined` if the session was deleted or `decide` returns `null`. */
  change(id: string, decide: Decide, urgency?: 'now' | 'soon'): Promise<SessionRecord | undefined>;
  /** Changes a session as `change` does. Returns `undefined`, without a change, if another instance runs it. */
  changeOwn(
    id: string,
    decide: Decide,
    urgency?: 'now' | 'soon',
  ): Promise<SessionRecord | undefined>;
  /** Deletes a session's data. Keeps its id and the deletion time `nowMs`. Returns whether the session existed. */
  purge(id: string, nowMs: number): Promise<boolean>;
  /** Deletes the ids of sessions deleted before `purgedMs`, and the idempotency keys stored before `idempotencyMs`. */
  forget(before: Record<'purgedMs' | 'idempotencyMs', number>): Promise<void>;
  /** Deletes up to 256 sessions while too many bytes are stored. Returns the number of deleted sessions. */
  trim(): Promise<number>;
  /** Sets the listener; there is only one. It is called with each commit, in order, once the commit is durable. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Sets the listener for sessions taken over from a failed instance. Absent if the store is not shared. */
  onTakeOver?(listener: (record: SessionRecord) => void): void;
  close(): void | Promise<void>;
}
