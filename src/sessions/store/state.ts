import type { Answer } from '../../answers/answer.ts';
import type { Client } from '../../lib/caller.ts';
import { Problem } from '../../lib/problem.ts';
import type { EndReason, EventDraft } from '../events.ts';
import { estimateEventBytes } from './quotas.ts';

export type PendingTurn = Readonly<{
  sequence: number;
  deliveryId: string;
  isBegun: boolean;
  isCancelled?: boolean; // the server instance that answers the message must cancel the answer
}>;

export interface SessionRecord {
  readonly id: string;
  readonly state: 'running' | 'waiting' | 'ended' | 'failed';
  /** Keyed hash of the bearer token that started the session; `null` for an anonymous caller. */
  readonly owner: string | null;
  /** Keyed hashes of address and network; `null` if unknown or for the command line. */
  readonly client: Client | null;
  readonly createdMs: number;
  /** Time at which the last message was accepted or the last answer ended, whichever is later. */
  readonly activeMs: number;
  readonly endedMs: number | null;
  /** Number of accepted messages. The next message gets this number as its sequence number. */
  readonly accepted: number;
  /** Messages without a finished answer, oldest first. Empty unless the state is `running`. */
  readonly pending: readonly PendingTurn[];
  readonly events: number;
  /** Estimated size of the session in the database, in bytes. */
  readonly storedBytes: number;
}

/** Change of a stored message: inserts it (`add`) or changes its state (`mark`). */
export type MessageChange = { readonly sequence: number } & (
  | { readonly kind: 'add'; readonly deliveryId: string; readonly text: string }
  | { readonly kind: 'mark'; readonly state: 'running' | 'completed' | 'failed' | 'cancelled' }
);

/** Change of a session: new record, events to store, and changes of messages. */
export interface Transition {
  readonly record: SessionRecord;
  readonly events: readonly EventDraft[];
  readonly messages: readonly MessageChange[];
}

type Delivery = Readonly<{ deliveryId: string; text: string; nowMs: number }>;

export interface SessionLimits {
  /** Maximum number of messages that wait behind the message being answered. */
  readonly queue: number;
  readonly turns: number;
  /** Number of stored bytes at which a session stops accepting messages. */
  readonly sessionBytes: number;
}

/** Text not stored yet (`delta`) and whole answer (`soFar`); `null` if all is stored. */
export type Unsent = { readonly delta: string; readonly soFar: string } | null;

export function startSession(
  { id, owner, client }: Pick<SessionRecord, 'id' | 'owner' | 'client'>,
  delivery: Delivery,
): Transition {
  const { nowMs } = delivery;
  const times = { createdMs: nowMs, activeMs: nowMs, endedMs: null };
  const counts = { accepted: 0, events: 0, storedBytes: 0 };
  const own = { id, owner, client, state: 'waiting', pending: [] } as const;
  const runtime = { agentId: 'perch', agentName: 'Perch', eveVersion: 'none' };
  const started: EventDraft = { type: 'session.started', data: { runtime }, deliveryId: null };
  const { record, messages } = queueMessage({ ...own, ...times, ...counts }, delivery);
  return { record, messages, events: [started] };
}

/** Returns the change for a message. @throws Problem `session_not_active`, `turn_queue_full` */
export function acceptMessage(record: SessionRecord, delivery: Delivery, limits: SessionLimits) {
  refuseInactive(record);
  const { turns, sessionBytes, queue } = limits;
  if (isFull(record, limits)) {
    const detail = `The session has reached the limit of ${turns} turns or ${sessionBytes} bytes.`;
    throw new Problem('session_not_active', { detail });
  }
  if (record.pending.length > queue) {
    throw new Problem('turn_queue_full', {
      detail: `The session already has the maximum of ${queue} queued messages.`,
    });
  }
  return queueMessage(record, delivery);
}

const isFull = ({ accepted, storedBytes }: SessionRecord, limits: SessionLimits): boolean =>
  accepted >= limits.turns || storedBytes >= limits.sessionBytes;

/** Throws an error if a session has ended or failed. @throws Problem `session_not_active` */
export function refuseInactive({ state }: SessionRecord): void {
  if (isLive(state)) return;
  throw new Problem('session_not_active', { detail: `The session has ${state}.` });
}

export const isLive = (state: SessionRecord['state']): boolean =>
  state === 'running' || state === 'waiting';

function queueMessage(record: SessionRecord, { deliveryId, text, nowMs }: Delivery): Transition {
  const sequence = record.accepted;
  const pending = [...record.pending, { sequence, deliveryId, isBegun: false }];
  return {
    record: { ...record, state: 'running', accepted: sequence + 1, activeMs: nowMs, pending },
    events: [],
    messages: [{ kind: 'add', sequence, deliveryId, text }],
  };
}

/** Returns the change that starts an answer; `null` if it is not next or has started. */
export function beginTurn(
  record: SessionRecord,
  sequence: number,
  { text, modelId }: { readonly text: string; readonly modelId: string },
): Transition | null {
  const [front, ...others] = record.pending;
  if (front === undefined || front.sequence !== sequence || front.isBegun) return null;
  const { deliveryId } = front;
  const [turn, step] = [toTurn(sequence), toStep(sequence)];
  const parts = [{ type: 'text' as const, text }];
  return {
    record: { ...record, pending: [{ ...front, isBegun: true }, ...others] },
    events: [
      { type: 'turn.started', data: turn, deliveryId },
      { type: 'message.received', data: { message: text, parts, ...turn }, deliveryId },
      { type: 'step.started', data: { modelId, ...step }, deliveryId },
    ],
    messages: [{ kind: 'mark', sequence, state: 'running' }],
  };
}

/** Returns the change that appends text; `null` if the answer is no longer running. */
export function appendText(record: SessionRecord, sequence: number, unsent: Unsent) {
  const front = findRunning(record, sequence);
  return front ? { record, events: appendedEvents(front, unsent), messages: [] } : null;
}

export type TurnEnd = { readonly unsent: Unsent; readonly nowMs: number } & (
  | { readonly kind: 'completed'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: TurnFailure }
  | { readonly kind: 'cancelled' }
);

/** Reason why a message has no answer. `terminal`: whether the session fails too. */
export type TurnFailure = Readonly<{ code: string; message: string; terminal: boolean }>;

/** Returns the change that ends a turn, and a full idle session; `null` if not running. */
export function endTurn(
  record: SessionRecord,
  { sequence, end }: { readonly sequence: number; readonly end: TurnEnd },
  limits: SessionLimits,
): Transition | null {
  const front = findRunning(record, sequence);
  if (front === undefined) return null;
  const ended = [...appendedEvents(front, end.unsent), ...endEvents(front, end)];
  const messages = [{ kind: 'mark', sequence, state: end.kind } as const];
  const pending = record.pending.slice(1);
  if (end.kind === 'failed' && end.failure.terminal) {
    const { code, message } = end.failure;
    const data = { code, message, sessionId: record.id };
    return {
      record: { ...record, state: 'failed', endedMs: end.nowMs, pending: [] },
      events: [...ended, { type: 'session.failed', data, deliveryId: null }],
      messages: [...messages, ...pending.map(toCancelled)],
    };
  }
  const state = pending.length === 0 ? 'waiting' : 'running';
  const left = { ...record, pending, activeMs: end.nowMs, state } as const;
  const events = [...ended, waitingEvent(front.deliveryId)];
  const storedBytes = events.reduce(
    (sum, event) => sum + estimateEventBytes(event),
    record.storedBytes,
  );
  if (pending.length > 0 || !isFull({ ...record, storedBytes }, limits)) {
    return { record: left, events, messages };
  }
  const last = endSession(left, 'turn_limit', end.nowMs);
  return { ...last, events: [...events, ...last.events], messages };
}

/** Returns the change that ends a session, its running answer and all queued messages. */
export function endSession(record: SessionRecord, reason: EndReason, nowMs: number): Transition {
  const running = record.pending.filter(({ isBegun }) => isBegun);
  const cancelled = running.flatMap((front): readonly EventDraft[] => [
    ...endEvents(front, { kind: 'cancelled' }),
    waitingEvent(front.deliveryId),
  ]);
  return {
    record: { ...record, state: 'ended', endedMs: nowMs, pending: [] },
    events: [...cancelled, { type: 'session.completed', data: { reason }, deliveryId: null }],
    messages: record.pending.map(toCancelled),
  };
}

function toCancelled({ sequence }: PendingTurn): MessageChange {
  return { kind: 'mark', sequence, state: 'cancelled' };
}

const findRunning = ({ pending }: SessionRecord, sequence: number): PendingTurn | undefined =>
  pending.find((turn) => turn.sequence === sequence && turn.isBegun);

export const toTurn = (sequence: number) => ({ sequence, turnId: `turn_${sequence}` });
const toStep = (sequence: number) => ({ ...toTurn(sequence), stepIndex: 0 }) as const;

function appendedEvents(
  { sequence, deliveryId }: PendingTurn,
  unsent: Unsent,
): readonly EventDraft[] {
  if (unsent === null) return [];
  const data = { messageDelta: unsent.delta, messageSoFar: unsent.soFar, ...toStep(sequence) };
  return [{ type: 'message.appended', data, deliveryId }];
}

function endEvents(
  { sequence, deliveryId }: PendingTurn,
  end: TurnEnd | { readonly kind: 'cancelled' },
): readonly EventDraft[] {
  const [turn, step] = [toTurn(sequence), toStep(sequence)];
  if (end.kind === 'cancelled') return [{ type: 'turn.cancelled', data: turn, deliveryId }];
  if (end.kind === 'completed') {
    const { text, finishReason, citations, abstained, usage, fallback } = end.answer;
    const message = { message: text, finishReason, citations: [...citations], abstained };
    const optional = { ...(usage && { usage }), ...(fallback && { fallback }) };
    return [
      { type: 'message.completed', data: { ...message, ...step }, deliveryId },
      { type: 'step.completed', data: { finishReason, ...optional, ...step }, deliveryId },
      { type: 'turn.completed', data: turn, deliveryId },
    ];
  }
  const { code, message, terminal } = end.failure;
  const failed = { message, finishReason: 'error' as const, citations: [], abstained: false };
  return [
    { type: 'message.completed', data: { ...failed, ...step }, deliveryId },
    { type: 'step.failed', data: { code, message, ...step }, deliveryId },
    { type: 'turn.failed', data: { code, message, terminal, ...turn }, deliveryId },
  ];
}

export function waitingEvent(deliveryId: string): EventDraft {
  const data = { wait: 'next-user-message' as const, continuationToken: '' };
  return { type: 'session.waiting', data, deliveryId };
}
