import { LRUCache } from 'lru-cache';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import type { TurnEnd } from '../store/state.ts';

export type TurnSpans = ReturnType<typeof createTurnSpans>;

const maxRemembered = 10_000;

/** Creates turn spans that link to the message's HTTP span, if this process received it. */
export function createTurnSpans(tracing: Tracing) {
  const requests = new LRUCache<string, Pick<TraceSpan, 'spanContext'>>({ max: maxRemembered });
  return {
    /** Stores the message's HTTP span until its answer begins. */
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

/** Ends a span. `end`: `null` if the session ended or was deleted, `undefined` after an error. */
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
