import type { Client } from '../core/caller.ts';
import { Problem } from '../core/problem.ts';
import type { SessionService } from './service.ts';
import type { Once, Receipt } from './store/session-rows.ts';
import { acceptMessage, type SessionRecord, startSession } from './store/state.ts';

interface FirstMessage {
  readonly text: string;
  /** The owner mark; `null` for the anonymous caller. */
  readonly owner: string | null;
  /** `null` for the command line. */
  readonly client: Client | null;
  readonly once: Once | null;
}

/**
 * Starts a session with its first message; its turn begins by itself.
 *
 * @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`, `not_ready`
 */
export function startWith(
  { text, owner, client, once }: FirstMessage,
  { store, ids, clock }: SessionService,
): Promise<Receipt> {
  const nowMs = clock.now();
  const receipt = { sessionId: ids.session(), deliveryId: ids.delivery(), queued: 0 };
  const { sessionId: id, deliveryId } = receipt;
  const transition = startSession({ id, owner, client }, { deliveryId, text, nowMs });
  return store.start({ transition, receipt }, once);
}

interface FurtherMessage {
  readonly sessionId: string;
  readonly text: string;
  readonly once: Once | null;
  /** Throws if something speaks against the message when it is accepted. */
  readonly check?: ((record: SessionRecord) => void) | undefined;
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
    check?.(record);
    return {
      transition: acceptMessage(record, { deliveryId, text, nowMs: clock.now() }, limits),
      receipt: { sessionId, deliveryId, queued: record.pending.length },
    };
  });
  if (receipt === undefined) throw expiredSession();
  return receipt;
}

/** Creates the problem of a session id that nobody knows. */
export function unknownSession(): Problem {
  return new Problem('session_not_found', { detail: 'There is no session with this id.' });
}

/** Creates the problem of a session that was deleted. */
export function expiredSession(): Problem {
  return new Problem('session_expired', { detail: 'The session has ended and was deleted.' });
}

/** @throws Problem `session_forbidden` if the session was started with another owner mark */
export function refuseOtherOwner(record: SessionRecord, owner: string | null): void {
  if (record.owner === owner) return;
  throw new Problem('session_forbidden', {
    detail: 'The session was started with another bearer token, or with none.',
  });
}
