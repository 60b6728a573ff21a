import type { Client } from '../core/caller.ts';
import { expiredSession } from './http/calls.ts';
import type { Owner } from './http/owner.ts';
import type { SessionService } from './service.ts';
import type { Once, Receipt } from './store/session-rows.ts';
import { acceptMessage, type SessionRecord, startSession } from './store/state.ts';

/** A first message. */
export interface FirstMessage {
  readonly text: string;
  readonly owner: Owner;
  /** `null` for the command line. */
  readonly client: Client | null;
  readonly once: Once | null;
}

/**
 * Starts a session with its first message; its turn begins by itself.
 *
 * @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`, `not_ready`
 */
export async function startWith(
  { text, owner, client, once }: FirstMessage,
  { store, ids, clock }: SessionService,
): Promise<Receipt> {
  const nowMs = clock.now();
  const receipt = { sessionId: ids.session(), deliveryId: ids.delivery(), queued: 0 };
  const { sessionId: id, deliveryId } = receipt;
  const transition = startSession({ id, owner, client }, { deliveryId, text, nowMs });
  return store.start({ transition, receipt }, once);
}

/** A further message of a session. */
export interface FurtherMessage {
  readonly sessionId: string;
  readonly text: string;
  readonly once: Once | null;
  /** Throws what speaks against it, as the session is when it is accepted. */
  readonly check: (record: SessionRecord) => void;
}

/**
 * Adds a message to a session; its turn waits for those before it.
 *
 * @throws Problem `session_not_active`, `session_expired`, `turn_queue_full`, `overloaded`,
 * `idempotency_conflict`, `not_ready`, and what `check` throws
 */
export async function goOnWith(
  { sessionId, text, once, check }: FurtherMessage,
  { store, ids, clock, limits }: SessionService,
): Promise<Receipt> {
  const deliveryId = ids.delivery();
  const receipt = await store.accept(sessionId, once, (record) => {
    check(record);
    return {
      transition: acceptMessage(record, { deliveryId, text, nowMs: clock.now() }, limits),
      receipt: { sessionId, deliveryId, queued: record.pending.length },
    };
  });
  if (receipt === undefined) throw expiredSession();
  return receipt;
}
