import { LRUCache } from 'lru-cache';
import type { TraceSpan, Tracing } from '../../core/tracing/tracing.ts';
import type { TurnEnd } from '../store/state.ts';

export type TurnSpans = ReturnType<typeof createTurnSpans>;

const maxRemembered = 10_000;

/**
 * Creates the functions that start the tracing spans of turns (a message and its answer). Each span
 * links to the span of the HTTP request that sent the message. The link is missing if another
 * server instance received the message, or if the server was restarted since.
 */
export function createTurnSpans(tracing: Tracing) {
  const requests = new LRUCache<string, Pick<TraceSpan, 'spanContext'>>({ max: maxRemembered });
  return {
    /**
     * Stores the tracing span of the HTTP request that sent the message `deliveryId`. The span is
     * removed when the answer to the message begins.
     */
    remember: (deliveryId: string, { spanContext }: TraceSpan): void => {
      requests.set(deliveryId, { spanContext });
    },
    start: (deliveryId: string): TraceSpan => {
      const request = requests.get(deliveryId);
      requests.delete(deliveryId);
      return tracing.start('turn', { links: [request] });
    },
  };
}

/**
 * Ends the tracing span of a turn (a message and its answer). `end`: how the answer ended; `null`
 * if the session has ended or was deleted, `undefined` after an error.
 */
export function endTurnSpan(span: TraceSpan | undefined, end: TurnEnd | null | undefined): void {
  if (span === undefined) return;
  span.set({ 'perch.turn.outcome': end === null ? 'gone' : (end?.kind ?? 'failed') });
  if (end?.kind === 'completed') span.set({ 'perch.turn.abstained': end.answer.abstained });
  if (end?.kind === 'failed') {
    span.set({ 'perch.turn.failure': end.failure.code });
    span.fail(end.failure.code);
  }
  if (end === undefined) span.fail('_OTHER');
  span.end();
}
