import { expect } from 'vitest';
import type { Client } from '../../src/lib/caller.ts';
import type {
  Acceptance,
  KeyedRequest,
  SessionStore,
} from '../../src/sessions/store/session-store.ts';
import {
  acceptMessage,
  beginTurn,
  endTurn,
  type SessionRecord,
  startSession,
} from '../../src/sessions/store/state.ts';
import { answerTo } from './scripted-engine.ts';

/** Limits of a session that no test reaches. */
export const limits = { queue: 8, turns: 500, sessionBytes: 16_777_216 };

/** Returns the arguments of `store.start`. */
export function toStart(
  id: string,
  given: { nowMs?: number; text?: string; client?: Client | null; once?: KeyedRequest } = {},
): readonly [Acceptance, KeyedRequest | null] {
  const { nowMs = 0, text = `question of ${id}`, client = null, once = null } = given;
  const deliveryId = `dlv_${id}`;
  const transition = startSession({ id, owner: null, client }, { deliveryId, text, nowMs });
  return [{ transition, receipt: { sessionId: id, deliveryId, queued: 0 } }, once];
}

/** Returns the record of a session, which must exist. */
export async function recordOf(store: SessionStore, id: string): Promise<SessionRecord> {
  const found = await store.find(id);
  if (found.kind !== 'known') throw new Error(`${id} is ${found.kind}`);
  return found.record;
}

/** Answers the first pending turn. */
export async function answerFront(store: SessionStore, id: string, nowMs = 1): Promise<void> {
  const sequence = (await recordOf(store, id)).pending[0]?.sequence ?? -1;
  const text = (await store.readText(id, sequence)) ?? '';
  await store.change(id, (record) => beginTurn(record, sequence, { text, modelId: 'm' }));
  const end = { kind: 'completed', answer: answerTo(text), unsent: null, nowMs } as const;
  await store.change(id, (record) => endTurn(record, { sequence, end }, limits));
}

/** Returns the lines of all events of a session. */
export async function readAll(store: SessionStore, id: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (;;) {
    const events = await store.readEvents(id, lines.length);
    if (events.length === 0) return lines;
    expect(events[0]?.index).toBe(lines.length);
    lines.push(...events.map(({ line }) => line));
  }
}

/** Sends a message to a session. */
export async function accept(store: SessionStore, sessionId: string, text: string): Promise<void> {
  await store.accept(sessionId, null, (record) => {
    const deliveryId = `dlv_${record.accepted}`;
    return {
      transition: acceptMessage(record, { deliveryId, text, nowMs: 1 }, limits),
      receipt: { sessionId, deliveryId, queued: record.pending.length },
    };
  });
}

/** Returns the ids of all or all running sessions, as the store lists them. */
export async function idsOf(
  store: SessionStore,
  which: 'all' | 'running',
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const records of store.list(which)) ids.push(...records.map(({ id }) => id));
  return ids;
}
