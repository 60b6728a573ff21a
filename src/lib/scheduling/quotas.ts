import type { Client } from '../caller.ts';

/** Resources that are limited per client, in bytes if the name ends in `Bytes`. */
export const resources = [
  'connections',
  'pipelines',
  'upstreamReads',
  'upstreamBytes',
  'replyBytes',
  'histories',
  'sessions',
  'sessionBytes',
  'queuedTurns',
  'streams',
  'pictures',
  'pictureBytes',
  'picturesOfHost',
] as const;

export type Resource = (typeof resources)[number];

export interface ResourceBound {
  readonly perAddress: number;
  readonly total: number;
}

/** Amount reserved for one task. Callers must call `release` when the task ends. */
export interface Reservation {
  /** Adds `amount`; returns `false` and adds nothing if a limit would be exceeded. */
  take(amount: number): boolean;
  /** Returns whether a further `amount` would be accepted if no other task used the resource. */
  fitsAlone(amount: number): boolean;
  /** Releases the whole reservation. Further calls do nothing. */
  release(): void;
}

/** Limit that would be exceeded. `share`: less would be left than the client already uses. */
export type Excess = 'address' | 'network' | 'total' | 'share';

export type Quotas = ReturnType<typeof createQuotas<Resource>>;

/** Ratio of the resource limit of a network (an IPv6 /48) to the resource limit of one address. */
export const addressesPerNetwork = 4;

/** Name under which the used amount of all clients together is counted. */
export const everyone = '*';

/** Limit of a client's address, of its network, or of all clients together. */
export type Limit = Readonly<{
  scope: Exclude<Excess, 'share'>;
  name: string;
  most: number;
}>;

/** Creates a counter of each client's resources that refuses amounts over a limit (`Excess`). */
export function createQuotas<Name extends string>(bounds: Readonly<Record<Name, ResourceBound>>) {
  const usages = new Map<Name, Usage>();
  const usageOf = (resource: Name): Usage => {
    const usage = usages.get(resource) ?? createUsage(bounds[resource]);
    usages.set(resource, usage);
    return usage;
  };
  return {
    bounds,
    /** Opens an empty reservation. `client`: `null` for own work, limited only by the total. */
    open: (resource: Name, client: Client | null): Reservation =>
      openReservation(usageOf(resource), client),
    /** Adds amounts counted elsewhere, by client, network or `everyone`, to those of a resource. */
    include: (resource: Name, usedBy: (name: string) => number): void => {
      usageOf(resource).external = usedBy;
    },
    /** Returns the limit that a further `amount` would exceed; `null` if there is none. */
    findExcess: (resource: Name, client: Client | null, amount: number): Excess | null =>
      findExcess(usageOf(resource), toLimits(client, bounds[resource]), amount),
    /** Returns the limits of a client, narrowest first. */
    limitsOf: (resource: Name, client: Client | null): readonly Limit[] =>
      toLimits(client, bounds[resource]),
    usedBy: (resource: Name, name: string): number => usedIn(usageOf(resource), name),
    totalOf: (resource: Name): number => usedIn(usageOf(resource), everyone),
    /** Returns the number of refused reservations of a resource since the server started. */
    refusedCount: (resource: Name): number => usageOf(resource).refused,
  };
}

/** Used amounts of one resource. `used` has no entries for names without use. */
interface Usage {
  readonly bound: ResourceBound;
  readonly used: Map<string, number>;
  refused: number;
  external: ((name: string) => number) | null;
}

function createUsage(bound: ResourceBound): Usage {
  return { bound, used: new Map(), refused: 0, external: null };
}

const usedIn = ({ used, external }: Usage, name: string) =>
  (used.get(name) ?? 0) + (external?.(name) ?? 0);

function openReservation(usage: Usage, client: Client | null): Reservation {
  const limits = toLimits(client, usage.bound);
  let taken = 0;
  const add = (amount: number): void => {
    taken += amount;
    for (const { name } of limits) {
      const used = (usage.used.get(name) ?? 0) + amount;
      if (used === 0) usage.used.delete(name);
      else usage.used.set(name, used);
    }
  };
  return {
    take: (amount) => {
      if (findExcess(usage, limits, amount) !== null) {
        usage.refused += 1;
        return false;
      }
      add(amount);
      return true;
    },
    fitsAlone: (amount) => {
      const alone = openReservation(createUsage(usage.bound), client);
      return alone.take(taken) && alone.take(amount);
    },
    release: () => add(-taken),
  };
}

function findExcess(usage: Usage, limits: readonly Limit[], amount: number): Excess | null {
  const left = usage.bound.total - usedIn(usage, everyone) - amount;
  let excess: Excess | null = null;
  for (const { scope, name, most } of limits) {
    const used = usedIn(usage, name);
    if (used + amount > most) return scope;
    if (scope !== 'total' && used > left) excess = 'share';
  }
  return excess;
}

function toLimits(client: Client | null, { perAddress, total }: ResourceBound): readonly Limit[] {
  const limits: Limit[] = [{ scope: 'total', name: everyone, most: total }];
  if (client === null) return limits;
  const { address, network } = client;
  const most = perAddress * addressesPerNetwork;
  if (network !== null) limits.unshift({ scope: 'network', name: network, most });
  return [{ scope: 'address', name: address, most: perAddress }, ...limits];
}
