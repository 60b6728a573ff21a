import { Problem } from '../../lib/problem.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import type { EventStamp } from '../events.ts';
import type { SessionRecord, Transition } from './state.ts';
import type { StoreWatch } from './store-faults.ts';

export type Found =
  | { readonly kind: 'known'; readonly record: SessionRecord }
  | { readonly kind: 'purged' }
  | { readonly kind: 'unknown' };

/** Accepted message: the session's change, and the receipt for the sender. */
export type Acceptance = Readonly<{ transition: Transition; receipt: Receipt }>;

/** Sessions changed by one commit, keyed by id. The value is `undefined` for a deleted session. */
export type Commit = ReadonlyMap<string, SessionRecord | undefined>;

/** Function that returns a new event's metadata: id, time and index. */
export type StampEvent = (index: number) => EventStamp;

/** Function that returns a change or `null`. Called again if another change came first. */
export type Decide = (record: SessionRecord) => Transition | null;

/** Maximum characters of a batch of events. A batch with a single event may be longer. */
export const chunkLength = 65_536;

/** Stored event. `line` is JSON without a line feed or the continuation token. */
export type StoredEvent = Readonly<{ index: number; line: string }>;

/** Answered question. `line` is the stored `message.completed` event with the answer. */
export type AnsweredTurn = Readonly<{ question: string; line: string }>;

/** Result of sending a message. `queued`: unanswered messages before it. */
export type Receipt = Readonly<{ sessionId: string; deliveryId: string; queued: number }>;

/** Keyed hashes of `Idempotency-Key` and caller (`key`), and of path and body (`fingerprint`). */
export type KeyedRequest = Readonly<{ key: string; fingerprint: string; nowMs: number }>;

export const idempotencyMs = 24 * 60 * 60 * 1000;

/** Checks a repeated request. @throws Problem `idempotency_conflict` for another fingerprint */
export function refuseOtherRequest(request: KeyedRequest, fingerprint: string): void {
  if (fingerprint === request.fingerprint) return;
  throw new Problem('idempotency_conflict', {
    detail: 'The value of the header `Idempotency-Key` was already used for another request.',
  });
}

export interface StoreContext {
  readonly stamp: StampEvent;
  /** Limits of each client. Default: no limits. */
  readonly quotas?: Quotas;
  /** Ids of the sessions with open streams here, whose changes by other instances are announced. */
  readonly followed?: ReadonlySet<string>;
  /** Listener for failures and for successful writes. */
  readonly watch?: StoreWatch | undefined;
}

/** Store of sessions. Promises reject with Problem `not_ready` if the store cannot be used. */
export interface SessionStore {
  /** Whether several instances share the store; only one at a time answers a session. */
  readonly isShared: boolean;
  find(id: string): Promise<Found>;
  /**
   * Returns the result of an earlier request with this key, if any.
   * @throws Problem `idempotency_conflict` if the earlier request was different
   */
  recall(request: KeyedRequest | null): Promise<Receipt | undefined>;
  /** Reads up to `chunkLength` (characters or bytes, by store), but at least one event if any. */
  readEvents(id: string, from: number): Promise<readonly StoredEvent[]>;
  readText(id: string, sequence: number): Promise<string | undefined>;
  /** Reads the last `count` answered questions before the message number `before`, oldest first. */
  readAnswered(
    id: string,
    range: Record<'before' | 'count', number>,
  ): Promise<readonly AnsweredTurn[]>;
  /** Yields batches: all sessions in order of their start, or running ones in any order. */
  list(which: 'all' | 'running'): AsyncGenerator<readonly SessionRecord[]>;
  /** Returns up to 100 ids of `waiting` sessions idle or created before these Unix milliseconds. */
  listExpired(before: Record<'idleMs' | 'createdMs', number>): Promise<readonly string[]>;
  /** Returns the ids of up to 100 sessions that ended before `endedMs` (Unix milliseconds). */
  listStale(endedMs: number): Promise<readonly string[]>;
  /** Writes a value that changes nothing. Rejects with Problem `not_ready` if that fails. */
  probe(): Promise<void>;
  countLive(): Promise<number>;
  /** Returns the estimated total size of all stored sessions in bytes. */
  countStored(): Promise<number>;
  /**
   * Deletes the oldest sessions of a session's client while its bytes exceed its limit. Returns
   * whether storage then allows a new answer, which may exceed limits slightly.
   */
  makeRoom(id: string, nowMs: number): Promise<boolean>;
  /** Returns whether this server instance runs a session, that is, answers its messages. */
  runs(id: string): boolean;
  /**
   * Starts a session, or returns the receipt of an earlier request with the same idempotency key.
   * Evicts only the client's own oldest sessions to enforce its limits (`docs/sessions.md`).
   * @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  start(acceptance: Acceptance, request: KeyedRequest | null): Promise<Receipt>;
  /**
   * Adds a message, or returns the receipt of an earlier request with the same idempotency key.
   * Returns `undefined` for an unknown or deleted session. `decide` may throw to reject the
   * message.
   * @throws the errors of `decide`; Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`
   */
  accept(
    id: string,
    request: KeyedRequest | null,
    decide: (record: SessionRecord) => Acceptance,
  ): Promise<Receipt | undefined>;
  /** Returns the session; `undefined` if unknown or unchanged. */
  change(id: string, decide: Decide): Promise<SessionRecord | undefined>;
  /** Changes a session that this instance answers; otherwise returns `undefined`. */
  changeOwn(id: string, decide: Decide): Promise<SessionRecord | undefined>;
  /** Deletes a session's data, but keeps its id. Returns whether it existed. */
  purge(id: string, nowMs: number): Promise<boolean>;
  /** Deletes ids purged, and idempotency keys stored, before these Unix milliseconds. */
  forget(before: Record<'purgedMs' | 'idempotencyMs', number>): Promise<void>;
  /** Replaces the listener. Called once for each durable commit, in the order of commits. */
  onCommit(listener: (commit: Commit) => void): void;
  /** Sets the listener for sessions taken over from failed instances; absent if not shared. */
  onTakeOver?(listener: (record: SessionRecord) => void): void;
  close(): void | Promise<void>;
}
