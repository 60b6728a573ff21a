import {
  createLedger,
  type Ledger,
  type Resource,
  type ResourceBound,
} from '../../src/core/scheduling/ledger.ts';

/** Bounds that no test reaches, and that a store can send to an engine. */
const unbounded = { perAddress: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER };

/** Creates a ledger with the given limits, and no others. */
export function openLedger(bounds: Partial<Record<Resource, Partial<ResourceBound>>> = {}): Ledger {
  const of = (resource: Resource) => ({ ...unbounded, ...bounds[resource] });
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
    pictures: of('pictures'),
    pictureBytes: of('pictureBytes'),
    picturesOfHost: of('picturesOfHost'),
  });
}
