import {
  createLedger,
  type Holding,
  type HoldingBound,
  type Ledger,
} from '../../src/core/ledger.ts';

const roomy: HoldingBound = { perAddress: 1e9, total: 1e12 };

/** Creates a ledger that bounds nothing but what a test names. */
export function createTestLedger(bounds: Partial<Record<Holding, HoldingBound>> = {}): Ledger {
  return createLedger({
    connections: roomy,
    upstreamReads: roomy,
    upstreamBytes: roomy,
    replyBytes: roomy,
    histories: roomy,
    sessions: roomy,
    sessionBytes: roomy,
    queuedTurns: roomy,
    streams: roomy,
    ...bounds,
  });
}
