import {
  createQuotas,
  type Quotas,
  type Resource,
  type ResourceBound,
  resources,
} from '../../src/lib/scheduling/quotas.ts';

/** Bounds that no test reaches, and that a store can send to an engine. */
const unbounded = { perAddress: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER };

/** Creates a table of quotas with the given limits, and no others. */
export function openQuotas(bounds: Partial<Record<Resource, Partial<ResourceBound>>> = {}): Quotas {
  const all = resources.map((resource) => [resource, { ...unbounded, ...bounds[resource] }]);
  return createQuotas<Resource>(Object.fromEntries(all));
}
