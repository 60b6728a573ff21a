import { Problem } from '../lib/problem.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';
import type { SessionService } from './service.ts';
import type { Found, KeyedRequest, Receipt } from './store/session-store.ts';
import { acceptMessage, type SessionRecord, startSession } from './store/state.ts';

interface FirstMessage extends Pick<SessionRecord, 'owner' | 'client'> {
  readonly text: string;
  readonly idempotency: KeyedRequest | null;
  readonly span?: TraceSpan | undefined;
}

/**
 * Starts a session.
 * @throws Problem `overloaded`, `turn_queue_full`, `idempotency_conflict`, `not_ready`
 */
export function sendFirstMessage(
  { text, owner, client, idempotency, span }: FirstMessage,
  { store, ids, clock, turnSpans }: SessionService,
): Promise<Receipt> {
  const [id, deliveryId] = [ids.session(), ids.delivery()];
  if (span !== undefined) turnSpans?.remember(deliveryId, span);
  const transition = startSession({ id, owner, client }, { deliveryId, text, nowMs: clock.now() });
  return store.start(
    { transition, receipt: { sessionId: id, deliveryId, queued: 0 } },
    idempotency,
  );
}

interface FurtherMessage {
  readonly sessionId: string;
  readonly text: string;
  readonly idempotency: KeyedRequest | null;
  readonly span?: TraceSpan | undefined;
  /** Called before the message is stored. Throws an error to reject it. */
  readonly check?: ((record: SessionRecord) => void) | undefined;
}

/**
 * Adds a message to the queue of a session.
 * @throws Problem `session_not_active`, `session_expired`, `turn_queue_full`, `overloaded`,
 *   `idempotency_conflict`, `not_ready`, and the errors of `check`
 */
export async function sendFurtherMessage(
  { sessionId, text, idempotency, span, check }: FurtherMessage,
  { store, ids, clock, limits, turnSpans }: SessionService,
): Promise<Receipt> {
  const deliveryId = ids.delivery();
  if (span !== undefined) turnSpans?.remember(deliveryId, span);
  const receipt = await store.accept(sessionId, idempotency, (record) => {
    check?.(record);
    return {
      transition: acceptMessage(record, { deliveryId, text, nowMs: clock.now() }, limits),
      receipt: { sessionId, deliveryId, queued: record.pending.length },
    };
  });
  if (receipt === undefined) throw expiredSession();
  return receipt;
}

/** Returns a found session. @throws Problem `session_not_found`, `session_expired` */
export function demandKnown(found: Found): SessionRecord {
  if (found.kind === 'known') return found.record;
  if (found.kind === 'purged') throw expiredSession();
  throw new Problem('session_not_found', { detail: 'There is no session with this id.' });
}

const expiredSession = (): Problem =>
  new Problem('session_expired', { detail: 'The session has ended and was deleted.' });

/** Checks the token that started the session, or none. @throws Problem `session_forbidden` */
export function refuseOtherOwner(record: SessionRecord, owner: string | null): void {
  if (record.owner === owner) return;
  throw new Problem('session_forbidden', {
    detail: 'The session was started with another bearer token, or with none.',
  });
}
