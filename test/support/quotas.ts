import {
  createQuotas,
  type Quotas,
  type Resource,
  type ResourceBound,
} from '../../src/lib/scheduling/quotas.ts';

/** Bounds that no test reaches, and that a store can send to an engine. */
const unbounded = { perAddress: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER };

/** Creates a table of quotas with the given limits, and no others. */
export function openQuotas(bounds: Partial<Record<Resource, Partial<ResourceBound>>> = {}): Quotas {
  const of = (resource: Resource) => ({ ...unbounded, ...bounds[resource] });
  return createQuotas({
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
