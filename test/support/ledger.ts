import {
  createLedger,
  type Holding,
  type HoldingBound,
  type Ledger,
} from '../../src/core/scheduling/ledger.ts';

const unbounded = { perAddress: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY };

/** Creates a ledger with the given limits, and no others. */
export function openLedger(bounds: Partial<Record<Holding, Partial<HoldingBound>>> = {}): Ledger {
  const of = (holding: Holding) => ({ ...unbounded, ...bounds[holding] });
  return createLedger({
    connections: of('connections'),
    upstreamReads: of('upstreamReads'),
    upstreamBytes: of('upstreamBytes'),
    replyBytes: of('replyBytes'),
    histories: of('histories'),
    sessions: of('sessions'),
    sessionBytes: of('sessionBytes'),
    queuedTurns: of('queuedTurns'),
    streams: of('streams'),
  });
}
